//! Memory devices in the tables that the emulator's firmware gives to the kernel: those that the emulator makes, and the
//! tables of two real machines.

use super::*;
use latency_tests::program::{scratch, workspace};
use std::fs;

/// Returns the arguments that put the structures of a fixture in place of the emulator's: a file for each.
fn table(name: &str) -> Vec<String> {
    let path = workspace().join("tests/fixtures/dimms").join(name).with_extension("txt");
    let fixture = fs::read_to_string(path).expect("a fixture");
    let directory = scratch().expect("a directory");
    let structures = fixture.lines().filter(|line| !line.starts_with('#')).enumerate();
    structures
        .flat_map(|(index, line)| {
            let mut parts = line.split('|');
            let fields = parts.next().unwrap_or_default();
            let digits = (0..fields.len()).step_by(2).map(|at| u8::from_str_radix(&fields[at..at + 2], 16));
            let mut bytes: Vec<u8> = digits.collect::<Result<_, _>>().expect("hexadecimal");
            let length = bytes.len();
            parts.for_each(|text| bytes.extend([text.as_bytes(), b"\0"].concat()));
            bytes.resize(bytes.len().max(length + 1) + 1, 0);
            let file = directory.join(format!("{name}-{}-{index}.smbios", std::process::id()));
            fs::write(&file, bytes).expect("a file");
            ["-smbios".into(), format!("file={}", file.display())]
        })
        .collect()
}

/// Boots a machine with these arguments, and returns the document of `system` and its text.
fn system(machine: &Machine, arguments: &[String]) -> (Value, String) {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [json, text] =
        machine.clone().qemu_arguments(&arguments).boot_all([&["system", "--json"], &["system"]]);
    let document = json.expect_json(0);
    assert_valid(&document);
    assert!(at(&document, "/system/dimms/peak_bytes_per_second").is_null(), "{document:#}");
    // Lines end anywhere.
    let lines = text.expect_status(0).lines().flat_map(str::split_whitespace);
    (document, lines.collect::<Vec<_>>().join(" "))
}

fn assert_populated(document: &Value, slots: u64, devices: usize, each: [(&str, Value); 4]) {
    let dimms = at(document, "/system/dimms");
    assert_eq!(at(dimms, "/source"), "smbios");
    assert_eq!((number(dimms, "/slots"), array(dimms, "/devices").len()), (slots, devices), "{dimms:#}");
    for device in array(dimms, "/devices") {
        for (field, value) in &each {
            assert_eq!(device[field], *value, "{device:#}");
        }
    }
}

#[test]
fn tables_of_memory_devices_are_those_of_the_hypervisor() {
    in_guests("emulator::tables_of_memory_devices", || {
        let one = Machine::new(&[NodeSpec::new(1, 256)]);
        let options = ["-smbios", "type=17,loc_pfx=SLOT,bank=BANK,speed=2933"].map(String::from);
        let (document, text) = system(&one, &options);
        let kind = [("bytes", (256_u64 << 20).into()), ("type", "".into())];
        let [bytes, kind] = kind;
        assert_populated(&document, 1, 1, [bytes, kind, ("mt_per_s", 2933.into()), ("ranks", Value::Null)]);
        assert_eq!(at(&document, "/system/dimms/devices/0/locator"), "SLOT 0");
        assert!(text.contains("by the hypervisor (SMBIOS): the hardware may differ"), "{text}");

        let real = |size: u64, kind: &str, rate: u32, ranks: u32| {
            [
                ("bytes", (size << 30).into()),
                ("type", kind.into()),
                ("mt_per_s", rate.into()),
                ("ranks", ranks.into()),
            ]
        };
        let (document, text) = system(&one, &table("dell-eight-of-24"));
        assert_populated(&document, 24, 8, real(16, "DDR4", 2133, 2));
        assert!(text.contains("8 of 24 DIMM slots populated, 2133 MT/s"), "{text}");
        let (document, _) = system(&uniform(2), &table("supermicro-two-sockets"));
        assert_populated(&document, 16, 16, real(4, "DDR3", 1333, 1));
        assert_eq!(at(&document, "/system/dimms/devices/8/locator"), "P2-DIMME1");
    });
}
