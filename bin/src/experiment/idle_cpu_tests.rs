//! Tests the choice of the CPU on fixtures with a generated /proc/stat.

use std::cell::Cell;
use std::format;
use std::string::String;
use std::vec::Vec;

use latency_core::topology::Files;
use latency_core::{NodeId, NodeSet};

use super::tests::{files_of, fixture, options, surveyed};
use latency_engine::machine::Instead;
use latency_engine::machine::idle::choose;

/// The files of a machine with CPUs that were busy for the given ticks of 20 between the first reading and the second.
struct Watched<'f, F> {
    files: &'f F,
    busy: &'f dyn Fn(u32) -> u64,
    waited: &'f Cell<u64>,
}

impl<F: Files> Files for Watched<'_, F> {
    fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        if path == "/sys/devices/system/cpu/cpu32/cache/index3/shared_cpu_list" {
            return Some(copied(b"32-63,96-127", buffer));
        }
        if path != "/proc/stat" {
            // The fixtures describe the caches of the first CPU; the other CPUs have the same ones.
            return self.files.read(&path.replace("/cpu32/cache", "/cpu0/cache"), buffer);
        }
        let mut text = String::from("cpu  1 2 3 4 5 6 7 8 9 10\n");
        for cpu in 0..128 {
            let busy = self.waited.get() * (self.busy)(cpu);
            let idle = self.waited.get() * 20 - busy;
            text += &format!("cpu{cpu} {} 0 7 {} 3 0 0 0 0 0\n", 100 + busy, 5000 + idle);
        }
        Some(copied(text.as_bytes(), buffer))
    }
}

fn copied<'b>(text: &[u8], buffer: &'b mut [u8]) -> &'b [u8] {
    let (read, _) = buffer.split_at_mut(text.len());
    read.copy_from_slice(text);
    read
}

/// Returns the measuring CPUs, by node, and the number of times that the load of CPUs was examined.
fn chosen(
    name: &str,
    allowed: Option<&str>,
    asked: Option<&str>,
    busy: &dyn Fn(u32) -> u64,
) -> (Vec<u32>, u64) {
    let files = files_of(&fixture(name));
    let mut machine = surveyed(&files, allowed);
    let waited = Cell::new(0);
    let watched = Watched { files: &files, busy, waited: &waited };
    let asked = asked.map(|list| NodeSet::parse_list(list.as_bytes()).unwrap());
    choose(&mut machine, &watched, asked, &|| waited.set(waited.get() + 1)).unwrap();
    // Texts show the CPUs of each choice, so a node without one has no entry.
    for Instead { first, busy, cpu } in machine.instead {
        let own = [first, cpu].iter().all(|cpu| machine.cpus.contains(cpu.0));
        assert!(own && *busy > 0.0, "{:?}", machine.instead);
    }
    let nodes = machine.initiators();
    (nodes.iter().map(|node| machine.cpu_of(NodeId(node)).unwrap().0).collect(), waited.get())
}

#[test]
fn a_busy_first_cpu_gives_way_to_an_idle_one_behind_its_cache() {
    const TWO: &str = "two-sockets";
    assert_eq!(chosen(TWO, None, None, &|_| 0), (std::vec![0, 32], 1));
    assert_eq!(chosen(TWO, None, None, &|cpu| if cpu == 0 { 7 } else { 0 }), (std::vec![1, 32], 1));
    // Every machine has some ticks, so that ticks below the bound are ignored; busy CPUs are skipped.
    assert_eq!(chosen(TWO, None, None, &|cpu| u64::from(cpu < 4) * 20), (std::vec![4, 32], 1));
    assert_eq!(chosen(TWO, None, None, &|cpu| if cpu == 32 { 1 } else { 0 }), (std::vec![0, 33], 1));
    // If all are busy, the first one is chosen.
    assert_eq!(chosen(TWO, None, None, &|_| 20), (std::vec![0, 32], 1));
    assert_eq!(chosen(TWO, None, Some("1"), &|_| 0), (std::vec![0, 32], 1));
    assert_eq!(
        chosen(TWO, None, Some("1"), &|cpu| if cpu % 32 == 0 { 20 } else { 0 }),
        (std::vec![0, 33], 1)
    );
}

#[test]
fn named_cpus_and_runs_without_measurements_need_no_load_check() {
    for (line, chooses) in [
        ("matrix", true),
        ("matrix --cpunode=1", true),
        ("matrix --cpu=first", false),
        ("matrix --cpu=first --cpunode=1", false),
        ("matrix --cpu=3", false),
        ("matrix --dry-run", false),
        ("variants", true),
        ("loaded", true),
        ("loaded --load-cpus=1-3", false),
        ("bandwidth", false),
        ("cores", false),
        ("system", false),
        ("fit x.csv", false),
    ] {
        assert_eq!(options(line).chooses_cpu(), chooses, "{line}");
    }
}

#[test]
fn without_a_choice_of_cpus_there_is_no_load_check() {
    assert_eq!(chosen("two-sockets", Some("0,32"), None, &|_| 20), (std::vec![0, 32], 0));
    assert_eq!(chosen("two-sockets", Some("0-1,32"), Some("1"), &|_| 20), (std::vec![0, 32], 0));
}
