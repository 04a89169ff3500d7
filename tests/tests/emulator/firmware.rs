//! The firmware's claims about its memory (HMAT), as the kernel shows them, next to the measured values.

use super::*;
use latency_tests::document::warnings;

/// The claimed read latencies in ns: far from the latency of any emulated load from node 2.
const CLAIMED: [&[u32]; 3] = [&[80, 120, 60_000], &[120, 80, 65_000], &[]];

/// Returns arguments for a working set beyond the 16 MiB that QEMU reports as the last-level cache: a smaller
/// one would not measure memory.
fn beyond<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let shorter = options(arguments).into_iter().filter(|argument| !argument.starts_with("--size="));
    shorter.chain(["--size=20M"]).collect()
}

/// On a machine without generic initiators access 0 and 1 are equal; the kernel has both.
#[test]
fn firmware_claims_are_shown_and_contradictions_are_reported() {
    in_guests("emulator::firmware_claims_are_shown", || {
        let cache = "hmat-cache,node-id=2,size=64M,level=1,associativity=direct,policy=write-back,line=64";
        let machine = with_memory_only_node().read_latencies(&CLAIMED).qemu_arguments(&["-numa", cache]);
        let [system, matrix, text] = machine.boot_all([
            &["system", "--json"],
            &beyond(&MATRIX),
            &beyond(&["--pages=4k", "--verbose"]),
        ]);
        for console in [&system, &matrix] {
            let document = console.expect_json(0);
            assert_valid(&document);
            for (node, ns) in [(0, 80.0), (1, 80.0), (2, 60_000.0)] {
                let node = at(&document, &format!("/system/nodes/{node}"));
                assert_eq!(decimal(node, "/firmware/read_ns"), ns, "{node:#}");
                // QEMU's configuration is 10 GiB a second, and HMAT has MB.
                let rate = decimal(node, "/firmware/read_bytes_per_second");
                assert!((1e10..1.1e10).contains(&rate), "{node:#}");
            }
            assert_eq!(at(&document, "/system/nodes/2/firmware/initiators"), &serde_json::json!([0]));
            assert_eq!(number(&document, "/system/nodes/2/memory_side_cache/bytes"), 64 << 20);
            assert_eq!(number(&document, "/system/nodes/2/memory_side_cache/line_bytes"), 64);
            assert!(at(&document, "/system/nodes/0/memory_side_cache").is_null(), "{document:#}");
        }
        let document = matrix.expect_json(0);
        assert!(warnings(&document).contains(&"firmware-latency-differs"), "{document:#}");
        text.expect_status(0).expect_line("60000").expect_line("64 MiB side cache");
        let warned = |node: &str| {
            let told = array(&document, "/warnings").iter().filter_map(|warning| warning["text"].as_str());
            told.filter(|text| text.contains("firmware") && text.contains(node)).count()
        };
        assert_eq!(warned("node 2"), 1, "{document:#}");
        // The working set is less than four times that cache, and four times is the whole node.
        let side = array(&document, "/warnings").iter().find(|warning| warning["code"] == "side-cache");
        let side = side.unwrap_or_else(|| panic!("{document:#}"));
        assert_eq!((number(side, "/node"), number(side, "/side_cache_bytes")), (2, 64 << 20), "{side:#}");
    });
}
