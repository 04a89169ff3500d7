//! Tests of the instructions that no result shows to be missing: barriers, acquires, releases and hints.
//!
//! Emulators execute loads and stores in program order, and so does a host with a stronger order of memory. So the
//! machine code of this test program is read: every instruction has four bytes.
//!
//! # Safety
//!
//! The code of a function is read up to its `ret`.

use super::{Atomics, Stamp, exchanges, own_walk, streams_done, unserialised_ticks};
use crate::arch::calls::lb_cores_flush;
use crate::arch::{self, EndStamp, Evictor, Line, SharedLine};
use std::vec;
use std::vec::Vec;

const RET: u32 = 0xd65f_03c0;
const ISB: u32 = 0xd503_3fdf;
/// A barrier until earlier loads are complete, for this core.
const DSB_NSHLD: u32 = 0xd503_359f;
/// A barrier until earlier stores and maintenance are complete, for all cores.
const DSB_ISH: u32 = 0xd503_3b9f;
/// A barrier that orders stores, for all cores.
const DMB_ISHST: u32 = 0xd503_3abf;

/// A form of instruction: its fixed bits, and their values.
#[derive(Clone, Copy)]
struct Form(u32, u32);

/// The read of CNTVCT_EL0 to a register.
const fn counter_to(register: u32) -> Form {
    Form(!0, 0xd53b_e040 | register)
}

const COUNTER: Form = Form(!31, 0xd53b_e040);
const LDAR: Form = Form(0xffff_fc00, 0xc8df_fc00);
const STLR: Form = Form(0xffff_fc00, 0xc89f_fc00);
const LDAXR: Form = Form(0xffff_fc00, 0xc85f_fc00);
const STLXR: Form = Form(0xffe0_fc00, 0xc800_fc00);
const LDXR: Form = Form(0xffff_fc00, 0xc85f_7c00);
const STXR: Form = Form(0xffe0_fc00, 0xc800_7c00);
const CASAL: Form = Form(0xffe0_fc00, 0xc8e0_fc00);
const LDADD: Form = Form(0xffe0_fc00, 0xf820_0000);
const STNP_Q: Form = Form(0xffc0_0000, 0xac00_0000);
const STP_Q: Form = Form(0xffc0_0000, 0xad00_0000);
const DC_CIVAC: Form = Form(!31, 0xd50b_7e20);
/// STR of a word of eight bytes.
const STR: Form = Form(0xffc0_0000, 0xf900_0000);
/// LDR of a word of eight bytes.
const LDR: Form = Form(0xffc0_0000, 0xf940_0000);

/// The machine code of a function, up to its first `ret`.
struct Code(Vec<u32>);

impl Code {
    fn of(function: usize) -> Code {
        const LONGEST: usize = 4096;
        let start = core::ptr::with_exposed_provenance::<u32>(function);
        // SAFETY: code can be read, and each function of this test program has a `ret`.
        let words = (0..LONGEST).map(|place| unsafe { start.wrapping_add(place).read() });
        let code = Code(words.take_while(|word| *word != RET).collect());
        assert!(code.0.len() < LONGEST, "a function without `ret`");
        code
    }

    /// Returns the places of the instructions of a form.
    fn places(&self, form: Form) -> Vec<usize> {
        let of_form = |(_, word): &(usize, &u32)| *word & form.0 == form.1;
        self.0.iter().enumerate().filter(of_form).map(|(place, _)| place).collect()
    }

    fn count(&self, form: Form) -> usize {
        self.places(form).len()
    }
}

#[inline(never)]
fn opening(stamp: Stamp) -> u64 {
    stamp.start()
}

#[inline(never)]
fn closing(stamp: Stamp, end: &mut EndStamp) {
    *end = stamp.end();
}

#[inline(never)]
fn bare(stamp: Stamp) -> u64 {
    unserialised_ticks(stamp)
}

/// Returns the instructions around each read of the counter, up to two before and one after, without the others.
fn around(code: &Code, reads: Form) -> Vec<Vec<u32>> {
    let barriers = |range: core::ops::Range<usize>| {
        let barrier = |word: &u32| [ISB, DSB_NSHLD].contains(word);
        code.0.get(range).unwrap_or_default().iter().copied().filter(barrier).collect()
    };
    let places = code.places(reads);
    places.into_iter().flat_map(|at| [barriers(at.saturating_sub(2)..at), barriers(at + 1..at + 2)]).collect()
}

#[test]
fn stamps_wait_for_the_loads_of_their_window() {
    let opens = Code::of(opening as fn(Stamp) -> u64 as usize);
    assert_eq!(around(&opens, counter_to(9)), [[ISB], [ISB]]);
    let closes = Code::of(closing as fn(Stamp, &mut EndStamp) as usize);
    assert_eq!(around(&closes, counter_to(10)), [vec![DSB_NSHLD, ISB], vec![ISB]]);
    let reads = Code::of(bare as fn(Stamp) -> u64 as usize);
    assert_eq!(around(&reads, counter_to(11)), [[0; 0]; 2]);
    assert_eq!([opens, closes, reads].map(|code| code.count(COUNTER)), [1; 3]);
}

#[test]
fn messages_release_their_time_and_acquire_it_before_they_read_the_counter() {
    for routine in exchanges(Atomics::BASELINE).message {
        let code = Code::of(routine as usize);
        let one = |form: Form| match code.places(form)[..] {
            [place] => place,
            ref places => panic!("{places:?}"),
        };
        let (acquire, release) = (one(LDAR), one(STLR));
        let [first, second] = code.places(counter_to(12))[..] else { panic!("two reads of the counter") };
        let (sends, receives) = if first + 2 == release { (first, second) } else { (second, first) };
        // The time is stored between the reading and the release.
        assert_eq!(sends + 2, release);
        assert_eq!(code.0[sends + 1] & STR.0, STR.1);
        // The reading of the receiver follows the poll, behind both barriers; only then the time is loaded.
        assert!(acquire < receives);
        assert_eq!(code.0[receives - 2..receives], [DSB_NSHLD, ISB]);
        assert_eq!(code.0[receives + 1] & LDR.0, LDR.1);
        assert_eq!(code.count(COUNTER), 2);
    }
}

#[test]
fn flags_release_and_acquire() {
    for routine in exchanges(Atomics::BASELINE).flag {
        let code = Code::of(routine as usize);
        assert_eq!((code.count(LDAR), code.count(STLR)), (1, 1));
    }
}

#[test]
fn turns_begin_with_an_acquire_and_end_with_a_release() {
    let counts = |routine: arch::ExchangeRoutine| {
        let code = Code::of(routine as usize);
        [LDAR, LDAXR, STLXR, CASAL, LDXR, STXR].map(|form| code.count(form))
    };
    let exclusives = exchanges(Atomics::BASELINE);
    // The first side sends once by a swap without a poll, and polls its last answer by loads.
    assert_eq!(exclusives.cas.map(counts), [[1, 2, 2, 0, 0, 0], [0, 1, 1, 0, 0, 0]]);
    assert_eq!(exclusives.read_cas.map(counts), [[1, 1, 1, 0, 0, 0]; 2]);
    let lse = exchanges(Atomics::detect(1 << 8));
    assert_eq!(lse.cas.map(counts), [[1, 0, 0, 2, 0, 0], [0, 0, 0, 1, 0, 0]]);
    assert_eq!(lse.read_cas.map(counts), [[1, 0, 0, 1, 0, 0]; 2]);
}

#[test]
fn ownership_is_taken_by_one_instruction_or_by_exclusives() {
    let counts = |atomics| {
        let code = Code::of(own_walk(atomics) as usize);
        [LDADD, LDXR, STXR].map(|form| code.count(form))
    };
    assert_eq!(counts(Atomics::BASELINE), [0, 1, 1]);
    assert_eq!(counts(Atomics::detect(1 << 8)), [1, 0, 0]);
}

/// A hint promises nothing: stores are exact only if they are others.
#[test]
fn stores_with_a_hint_are_not_called_exact() {
    let barriers = |code: &Code| code.0.iter().filter(|word| **word == DMB_ISHST).count();
    for routine in [arch::lb_stream_ntwrite, arch::lb_stream_copynt] {
        let code = Code::of(routine as usize);
        assert_eq!((code.count(STNP_Q), code.count(STP_Q), barriers(&code)), (2, 0, 1));
        assert_eq!(arch::STREAM_EXACT, code.count(STNP_Q) == 0);
    }
    for routine in [arch::lb_stream_write, arch::lb_stream_copy] {
        let code = Code::of(routine as usize);
        assert_eq!((code.count(STNP_Q), code.count(STP_Q), barriers(&code)), (0, 2, 0));
    }
    let line = Code::of(written as fn(&mut Line, &[u64; 8]) as usize);
    assert_eq!((line.count(STNP_Q), arch::STREAMS_BYPASS), (2, false));
}

#[inline(never)]
fn written(line: &mut Line, words: &[u64; 8]) {
    arch::stream_line(line, words);
}

#[inline(never)]
fn evicted(line: &Line) {
    if let Some(evictor) = Evictor::detect() {
        evictor.evict(core::slice::from_ref(line));
    }
}

#[test]
fn evictions_are_waited_for() {
    let done = Code::of(streams_done as fn() as usize);
    assert_eq!(done.0, [DSB_ISH]);
    let flush = Code::of(lb_cores_flush as unsafe extern "C" fn(*const SharedLine, usize) as usize);
    let [dc] = flush.places(DC_CIVAC)[..] else { panic!("one flush") };
    assert!(flush.0[dc..].contains(&DSB_ISH));
    assert_eq!(Code::of(evicted as fn(&Line) as usize).count(DC_CIVAC), 1);
}
