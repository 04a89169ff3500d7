//! The executable file itself: static, without libc, small, with the symbols that
//! profilers, debuggers and the emulators' latency models look for.
//!
//! The file for the other instruction set is checked as well if it is there; `make test-all` builds it.

use latency_tests::cachegrind::CHASE_PREFIX;
use latency_tests::program::{binary, workspace};
use latency_tests::skip::skip;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind, elf};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The properties of an executable that depend on the instruction set.
struct Kind {
    machine: elf::Machine,
    /// Size in bytes of the largest base page that a kernel may have.
    page: u64,
}

/// The kind of the executable under test, and of the one for the other instruction set.
const KINDS: [Kind; 2] =
    [Kind { machine: elf::EM_X86_64, page: 4 << 10 }, Kind { machine: elf::EM_AARCH64, page: 64 << 10 }];

/// Maximum size in bytes, for each instruction set: people copy the file once. `make size` shows the bytes by module.
const SIZE_LIMIT: u64 = 1_310_720;

/// The executable for the other instruction set.
const OTHER: &str = "target/aarch64/latency-bench";

/// Symbols that only a program with a C library has.
const LIBC_SYMBOLS: [&str; 9] = [
    "__libc_start_main",
    "__errno_location",
    "_IO_printf",
    "calloc",
    "free",
    "malloc",
    "printf",
    "pthread_create",
    "realloc",
];

type File<'f> = ElfFile64<'f, Endianness>;

/// Returns the files that are there, each with its kind.
fn files() -> Vec<(&'static Kind, PathBuf)> {
    let other = Some(workspace().join(OTHER)).filter(|path| path.is_file());
    KINDS.iter().zip([binary()].into_iter().chain(other)).collect()
}

/// Passes each file to `check`; a failure names the file.
fn with_files(check: impl Fn(&File<'_>, &Kind)) {
    for (kind, path) in files() {
        eprintln!("{}", path.display());
        let bytes = fs::read(&path).expect("the executable");
        let file: File<'_> = ElfFile64::parse(&*bytes).expect("a 64-bit ELF file");
        assert_eq!(file.elf_header().e_machine(file.endian()), kind.machine);
        check(&file, kind);
    }
}

#[test]
fn it_is_static() {
    with_files(|file, _| {
        let endian = file.endian();
        assert_eq!(file.elf_header().e_type(endian), elf::ET_EXEC, "not at a fixed address");
        for segment in file.elf_program_headers() {
            let kind = segment.p_type(endian);
            assert_ne!(kind, elf::PT_INTERP, "it asks for a dynamic linker");
            assert_ne!(kind, elf::PT_DYNAMIC, "it has a dynamic section");
            let flags = segment.p_flags(endian);
            let writable_code = elf::PF_W | elf::PF_X;
            if kind == elf::PT_LOAD {
                assert!(!flags.contains(writable_code), "a segment is writable and executable");
            }
            if kind == elf::PT_GNU_STACK {
                assert!(!flags.contains(elf::PF_X), "the stack is executable");
            }
        }
        let undefined: Vec<&str> =
            file.symbols().filter(|s| s.is_undefined()).filter_map(|s| s.name().ok()).collect();
        assert!(undefined.iter().all(|name| name.is_empty()), "undefined symbols: {undefined:?}");
    });
}

/// The kernel maps whole pages: if two segments share one, the last of them hides the other.
#[test]
fn no_two_segments_share_a_page() {
    with_files(|file, kind| {
        let endian = file.endian();
        let segments = file.elf_program_headers().iter();
        let loaded = segments.filter(|segment| segment.p_type(endian) == elf::PT_LOAD);
        let mut pages: Vec<_> = loaded
            .map(|segment| {
                let begin = segment.p_vaddr(endian);
                assert_eq!(begin % kind.page, segment.p_offset(endian) % kind.page, "it cannot be mapped");
                (begin / kind.page, (begin + segment.p_memsz(endian)).div_ceil(kind.page))
            })
            .collect();
        pages.sort_unstable();
        assert!(pages.len() > 1, "code and data in one segment: {pages:?}");
        assert!(pages.is_sorted_by(|before, after| before.1 <= after.0), "{pages:?}");
    });
}

#[test]
fn it_has_no_libc() {
    with_files(|file, _| {
        let names: Vec<&str> = file.symbols().filter_map(|symbol| symbol.name().ok()).collect();
        for name in LIBC_SYMBOLS {
            assert!(!names.contains(&name), "it has the symbol {name}");
        }
    });
}

/// Threads share the register that points to thread-local storage, and it points nowhere.
#[test]
fn it_has_no_thread_local_storage() {
    with_files(|file, kind| {
        let endian = file.endian();
        let kinds = file.elf_program_headers().iter().map(|segment| segment.p_type(endian));
        assert_eq!(kinds.filter(|&kind| kind == elf::PT_TLS).count(), 0, "a segment of thread-local data");
        if kind.machine == elf::EM_AARCH64 {
            let reads =
                file.sections().filter(|section| section.kind() == SectionKind::Text).flat_map(|section| {
                    let code = section.data().expect("code");
                    let words = code
                        .chunks_exact(4)
                        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
                    // `mrs xN, tpidr_el0`
                    words.filter(|word| word & !0x1f == 0xd53b_d040).collect::<Vec<_>>()
                });
            assert_eq!(reads.count(), 0, "instructions read thread-local storage");
        }
    });
    // A stack protector needs no segment: it reads a value that a C library has stored there.
    let Ok(output) = Command::new("objdump").arg("-d").arg(binary()).output() else {
        skip("it_has_no_thread_local_storage", "there is no objdump");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("<_start>:") && text.contains("%rsp"), "objdump: {}", output.status);
    let found: Vec<&str> = text.lines().filter(|line| line.contains("%fs:")).collect();
    assert!(found.is_empty(), "instructions read thread-local storage:\n{}", found.join("\n"));
}

#[test]
fn it_is_small() {
    for (_, path) in files() {
        let size = fs::metadata(&path).expect("the executable").len();
        assert!(size <= SIZE_LIMIT, "{}: {size} bytes, the limit is {SIZE_LIMIT}", path.display());
    }
}

#[test]
fn it_has_symbols_and_no_debug_information() {
    with_files(|file, _| {
        assert!(file.symbols().any(|symbol| symbol.name() == Ok("_start")), "no symbol _start");
        let debug: Vec<&str> = file
            .sections()
            .filter_map(|section| section.name().ok())
            .filter(|name| name.starts_with(".debug") || name.starts_with(".zdebug"))
            .collect();
        assert!(debug.is_empty(), "debug information: {debug:?}");
    });
}

/// The families of assembly routines that profilers and the emulators' models find by their names.
const FAMILIES: [&str; 4] = [CHASE_PREFIX, "lb_stream", "lb_cores", "lb_thread"];

#[test]
fn each_family_of_assembly_is_contiguous() {
    with_files(|file, _| {
        // Symbols of the kernels, and all others in their section.
        let mut code: Vec<(u64, u64, &str, object::SectionIndex)> = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text)
            .filter_map(|symbol| {
                Some((symbol.address(), symbol.size(), symbol.name().ok()?, symbol.section_index()?))
            })
            .collect();
        code.sort_by_key(|&(address, ..)| address);
        for prefix in FAMILIES {
            let is_of_family = |name: &str| name.starts_with(prefix);
            let first = code.iter().position(|&(_, _, name, _)| is_of_family(name));
            let first = first.unwrap_or_else(|| panic!("no function symbol begins with {prefix}"));
            let last = code.iter().rposition(|&(_, _, name, _)| is_of_family(name)).unwrap_or(first);
            let (_, _, _, section) = code[first];
            for &(address, size, name, own) in &code[first..=last] {
                assert!(is_of_family(name), "{name} at {address:#x} lies among those of {prefix}");
                assert_eq!(own, section, "{name} is in another section than the first of {prefix}");
                assert_ne!(size, 0, "{name} has no size: profilers cannot attribute samples to it");
            }
        }
    });
}
