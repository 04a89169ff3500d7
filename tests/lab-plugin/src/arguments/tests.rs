//! The grammar: valid arguments, and the message for every mistake.

use super::*;
use crate::directory::Operation;
use crate::memory::Board;
use crate::page::Page;
use proptest::prelude::*;

fn parse(arguments: &[&str]) -> Result<Arguments, ArgumentError> {
    Arguments::parse(["start=0x401000", "end=0x402000"].iter().chain(arguments).copied())
}

fn refusal(argument: &str) -> String {
    parse(&[argument]).map_or_else(|error| error.to_string(), |_| format!("{argument} was accepted"))
}

#[test]
fn a_whole_machine_is_read() {
    let arguments = parse(&[
        "level=32K:8:3000:lru",
        "level=1M:16:5000:random:node",
        "other=7000",
        "directory-bit=9000",
        "entry=0x401234",
        "level=8M:16:9000:shared",
        "node=0:0:512M",
        "node=1:1G:0x20000000",
        "latency=*:*:20000",
        "latency=0:0:10000",
        "cpu=0-1:0",
        "cpu=2:1",
        "tlb=64:400:4way:4k",
        "tlb=1536:2000",
        "page=4k",
        "tables=1",
        "prefetch=8",
        "adjacent=on",
        "neighbour=300",
        "tail=1000:50000",
        "tail=100:7000",
        "pause=1000000:3000000",
        "noise=5:2000",
        "drift=2:1M",
        "burst=1000:50:30",
        "seed=7",
        "absorb=200",
        "overhead=80",
        "windows=8",
        "probe=on",
        "report=/tmp/counts",
    ])
    .unwrap();
    assert_eq!(arguments.code, 0x40_1000..0x40_2000);
    let description = &arguments.description;
    assert_eq!((description.adjacent, description.neighbour), (true, 300));
    assert_eq!((description.directory_bit, arguments.entry), (9000, Some(0x40_1234)));
    let level = |sets, ways, ticks, replacement, scope| Level { sets, ways, ticks, replacement, scope };
    assert_eq!(
        description.levels,
        [
            level(64, 8, 3000, Replacement::LeastRecentlyUsed, Scope::Cpu),
            level(1024, 16, 5000, Replacement::Random, Scope::Node),
            level(8192, 16, 9000, Replacement::LeastRecentlyUsed, Scope::All),
        ]
    );
    assert_eq!(
        description.tlb,
        [
            TlbLevel { entries: 64, miss_ticks: 400, ways: 4, only: Some(Page::Small) },
            TlbLevel { entries: 1536, miss_ticks: 2000, ways: 1536, only: None },
        ]
    );
    assert_eq!(description.page, PageRule::Always(Page::Small));
    assert_eq!((description.tables, arguments.windows), (Some(1), Some(8)));
    assert_eq!((description.prefetch, description.seed), (8, 7));
    assert_eq!(description.noise, Some(Noise { share: 0.05, every: 2000 }));
    assert_eq!(description.other, Some(7000));
    assert_eq!(description.drift, Some(Drift { share: 0.02, period: 1 << 20 }));
    assert_eq!(description.burst, Some(Burst { every: 1000, length: 50, share: 0.3 }));
    assert_eq!((description.tails.len(), description.pauses.len()), (2, 1));
    assert_eq!(arguments.regions[1], Region { node: 1, start: 1 << 30, size: 512 << 20 });
    assert_eq!(arguments.cpus, [(0..=1, 0), (2..=2, 1)]);
    assert_eq!(arguments.pacing, Pacing { absorb: 200, overhead: 80 });
    assert!(arguments.probe && arguments.report.is_some());
    let pairs = arguments.machine(Placing::Doubled, 3).unwrap().pairs().to_vec();
    let ticks: Vec<_> = pairs.iter().map(|pair| (pair.from, pair.to, pair.ticks)).collect();
    assert_eq!(ticks, [(0, 0, 10_000), (0, 1, 20_000), (1, 0, 20_000), (1, 1, 20_000)]);
}

#[test]
fn every_mistake_is_named() {
    for (argument, reason) in [
        ("probe", "not of the form name=value"),
        ("lavel=1", "unknown; known are start, end, stamps, entry, block, level"),
        ("start=0", "given twice"),
        ("stamps=5", "expected START:END"),
        ("stamps=5:5", "not above"),
        ("block=5:9", "expected START:END:TICKS"),
        ("level=32K:8", "expected SIZE:WAYS:TICKS"),
        ("level=32K:7:5", "not a multiple of its 7 ways"),
        ("level=0:8:5", "'0' must not be zero"),
        ("level=32K:8:5:fifo", "'fifo' is neither lru, random, node nor shared"),
        ("level=8G:16:5", "would not fit"),
        ("level=32K:8:", "'' is not a number"),
        ("level=32K:8:+5", "'+5' is not a number"),
        ("level=99999999999999999999:8:1", "not a number of 64 bits"),
        ("level=0xffffffffffffffG:8:1", "exceeds 64 bits"),
        ("node=0:0", "expected NODE:START:SIZE, found 2 piece(s)"),
        ("node=0:0xffffffffffffffff:2", "beyond 64 bits"),
        ("node=99999:0:1M", "'99999' is not a node or CPU"),
        ("latency=0:x:5", "'x' is not a number"),
        ("cpu=3-1:0", "the range 3-1 is backward"),
        ("tlb=64:5:3way", "64 entries are not a multiple of 3 ways"),
        ("tlb=64:5:1g", "'1g' is neither 4k, 2m nor as in 4way"),
        ("tlb=2M:5", "more than 1M entries"),
        ("page=1g", "neither auto, 4k nor 2m"),
        ("tables=a", "'a' is not a number"),
        ("windows=0", "'0' must not be zero"),
        ("tail=0:5", "'0' must not be zero"),
        ("pause=5", "expected EVERY:TICKS"),
        ("noise=5", "expected PERCENT:EVERY"),
        ("noise=100:7", "would leave no latency"),
        ("probe=maybe", "neither on nor off"),
        ("stream=5:9", "expected START:END:NAME"),
        ("stream=9:9:read", "not above"),
        ("server=0", "expected NODE|link:TICKS"),
        ("server=0:5:7", "expected NODE|link:TICKS"),
        ("server=lonk:5", "'lonk' is not a number"),
        ("server=link:0", "'0' must not be zero"),
        ("outstanding=0", "'0' must not be zero"),
        ("calls=1:2", "expected HOPS"),
        ("cores=9:5", "not above"),
        ("walks=9", "expected START:END"),
        ("cluster=far:0-1", "'far' cannot be the class"),
        ("cluster=near:1-0", "the range 1-0 is backward"),
        ("cost=own:load:m", "expected CLASS:OPERATION:STATE:TICKS"),
        ("cost=own:move:m:5", "'move' is none of load, store, rmw, *"),
        ("cost=own:load:o:5", "'o' is none of m, e, s, i, *"),
        ("slowline=16:16:5", "no page of 16 has the index 16"),
        ("report=", "no file named"),
    ] {
        let message = refusal(argument);
        assert!(message.contains(reason) && message.contains(argument), "{message}, expected {reason}");
    }
}

#[test]
fn mistakes_between_arguments_are_named_too() {
    let error = |arguments: &[&str]| parse(arguments).unwrap_err().to_string();
    assert!(error(&["node=0:0:1M", "node=1:512K:1M"]).contains("overlaps 0x0-0xfffff of node 0"));
    assert!(error(&["level=1M:8:5:shared", "level=1M:8:5"]).contains("cannot lie behind"));
    let first = Arguments::parse(["end=5"]).unwrap_err().to_string();
    assert!(first.contains("start=ADDRESS") && first.contains("missing"), "{first}");
    let empty = Arguments::parse(["start=5", "end=5"]).unwrap_err().to_string();
    assert_eq!(empty, "argument 'end=0x5': not above start=0x5");

    let machine = |arguments: &[&str]| parse(arguments).unwrap().machine(Placing::Doubled, 2).err();
    assert!(machine(&["node=0:0:1M", "backend=1:1M"]).unwrap().contains("exclude each other"));
    assert!(machine(&["latency=1:*:5"]).unwrap().contains("no latency from node 0 to node 0"));
    assert_eq!(machine(&["latency=*:*:5"]), None);
    let tables = |more: &str| machine(&["latency=*:*:5", "tables=0", more]);
    assert!(tables("tail=1:5").unwrap().contains("needs tlb="));
    assert_eq!(tables("tlb=64:5"), None);
    assert!(machine(&["latency=*:*:5", "tlb=64:5", "tables=1"]).unwrap().contains("node 1 has no memory"));
    let with_server = machine(&["latency=*:*:5", "tlb=64:5", "tables=0", "server=0:500"]);
    assert!(with_server.unwrap().contains("exclude each other"));
    assert_eq!(machine(&["probe=on"]), None);
}

#[test]
fn generators_and_cores_are_read() {
    let arguments = parse(&[
        "stream=0x500:0x540:read",
        "stream=0x540:0x580:update",
        "server=1:2000:32:50",
        "server=link:900",
        "outstanding=12",
        "calls=500",
        "cores=0x600:0x700",
        "walks=0x660:0x680",
        "cluster=near:0-1",
        "cost=*:*:*:100",
        "cost=memory:*:*:900",
        "cost=near:rmw:s:300",
        "slowline=16:2:5K",
    ])
    .unwrap();
    let many = &arguments.many;
    assert_eq!((many.calls, &many.cores, &many.walks), (Some(500), &(0x600..0x700), &(0x660..0x680)));
    let traffic = many.traffic(&[0, 1], 2).unwrap();
    let places: Vec<String> = traffic.servers.lines().iter().map(|(place, _)| place.to_string()).collect();
    assert_eq!(places, ["node 0", "node 1", "link"]);
    assert_eq!(traffic.stream(0x540).unwrap().kernel.name, "update");
    assert!(many.traffic(&[0], 2).unwrap_err().contains("node 1"));
    let directory = many.directory(2).unwrap().unwrap();
    let ticks: Vec<u64> = [(0, 3, Operation::Load), (1, 3, Operation::Load), (0, 3, Operation::Exchange)]
        .map(|(cpu, page, operation)| directory.access(cpu, page << 12, 0, operation).unwrap().ticks)
        .to_vec();
    assert_eq!(ticks, [900, 100, 300]);
    let none = parse(&[]).unwrap().many;
    assert!(none.directory(2).unwrap().is_none() && !none.traffic(&[0], 2).unwrap().is_modelled());
    assert!(parse(&["cost=*:*:*:5"]).unwrap().many.directory(2).unwrap_err().contains("need cores="));
}

#[test]
fn without_nodes_everything_is_node_0() {
    let machine = parse(&["latency=*:*:5"]).unwrap().machine(Placing::Physical(Board::Q35), 1).unwrap();
    assert_eq!(machine.load(0, 0x1000, 1 << 40, 0).unwrap().ticks, 5);
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(name in "[a-z]{0,8}", value in "\\PC{0,30}") {
        let argument = format!("{name}={value}");
        if let Ok(arguments) = parse(&[&argument]) {
            // Only small machines are built: a level may have 4G.
            if arguments.description.levels.is_empty() && arguments.description.tlb.is_empty() {
                let _ = arguments.machine(Placing::Doubled, 2);
            }
        }
    }

    #[test]
    fn known_names_refuse_or_accept_any_value(
        name in prop::sample::select(vec!["level", "node", "backend", "latency", "cpu", "tlb", "tail", "server", "cost"]),
        value in "[0-9xKMG:*a-z-]{0,20}",
    ) {
        let _ = parse(&[&format!("{name}={value}")]);
    }

    #[test]
    fn numbers_are_read_in_every_form(value in any::<u32>()) {
        prop_assert_eq!(number(&format!("{value}")), Ok(u64::from(value)));
        prop_assert_eq!(number(&format!("{value:#x}")), Ok(u64::from(value)));
        prop_assert_eq!(number(&format!("{value}M")), Ok(u64::from(value) << 20));
    }
}
