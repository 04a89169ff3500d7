//! The latency model inside the emulator: its file, its arguments and its report.
//!
//! The grammar of both is in the documentation of the package `latency-lab-plugin`.

use super::{Clock, Model, Pages, host};
use crate::cachegrind::CHASE_PREFIX;
use crate::program::workspace;
use object::{Object, ObjectSection, ObjectSymbol};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Environment variable with the path of another plugin.
pub const PLUGIN_VARIABLE: &str = "LATENCY_LAB_PLUGIN";

/// Arguments that remove the emulator's own duration from every hop; the plugin's documentation explains the numbers.
const CALIBRATION: &str = "absorb=64M,overhead=100";
/// The same arguments for memory with servers. Here the hops of a long walk must not compensate a late hop, because
/// they would wait for each other, so only the guest's interrupts are compensated. The report has a line for each call
/// of a loop.
const LOADED: &str = "absorb=256K,overhead=100,calls=1";

/// The argument for a list of the timed windows, except for those of few hops.
const LISTED: &str = "windows=8";

/// The argument for a line in the report for each call of a kernel between cores with at least as many accesses as the
/// shortest chain has lines.
const LAPS: &str = "calls=256";

/// Prefix of the symbols of load generators' kernels.
const STREAM_PREFIX: &str = "lb_stream_";

/// Prefix of the symbols of the kernels that hand lines from core to core.
const CORES_PREFIX: &str = "lb_cores_";

/// The first and the last of the kernels between cores that walk over a chain.
const WALKS: [&str; 2] = ["lb_cores_read", "lb_cores_store"];

/// The arithmetic by which the executable measures the core's clock: routine, operations of a block, cycles
/// of each.
const ARITHMETIC: [(&str, u64, u64); 2] = [("lb_clock_adds", ADDITIONS, 1), ("lb_clock_multiplies", 64, 3)];

/// Additions of a block, of one core cycle each.
pub const ADDITIONS: u64 = 64;

/// Usual ticks of a core cycle of the guest: the emulator needs about one tick for one operation, and about as much for the
/// callback.
pub const CYCLE: u64 = 4;

/// Returns the plugin: `$LATENCY_LAB_PLUGIN`, or the one that `make` builds.
///
/// # Errors
///
/// A sentence that names the missing file and the command that builds it.
pub fn file() -> Result<PathBuf, String> {
    let chosen = std::env::var_os(PLUGIN_VARIABLE).map(PathBuf::from);
    let path = chosen.unwrap_or_else(|| PathBuf::from("target/release/liblatency_lab_plugin.so"));
    let path = workspace().join(path);
    path.canonicalize().map_err(|error| {
        format!(
            "the plugin {}: {error}; build it with `make plugin`, or set {PLUGIN_VARIABLE}",
            path.display()
        )
    })
}

/// Addresses in an executable.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// The chase loops.
    pub loops: Range<u64>,
    /// All of the code; it contains the stamps.
    pub all: Range<u64>,
    /// The routines of known arithmetic, with the core cycles of a block.
    pub arithmetic: Vec<(Range<u64>, u64)>,
    /// The kernels of load generators, with the rest of their names behind the prefix.
    pub streams: Vec<(Range<u64>, String)>,
    /// The kernels between cores.
    pub cores: Range<u64>,
    /// The kernels between cores that walk over a chain.
    pub walks: Range<u64>,
    /// Address of the first instruction of the executable.
    pub entry: u64,
}

impl Code {
    /// Finds these addresses.
    ///
    /// # Errors
    ///
    /// If the file is not an object file, or has no code, or no symbols of chase loops.
    pub fn find(executable: &[u8]) -> Result<Self, String> {
        let object = object::File::parse(executable).map_err(|error| format!("the executable: {error}"))?;
        let text = object.section_by_name(".text").ok_or("the executable has no code")?;
        let section = |prefix: &str| {
            let symbols = object.symbols().filter(|symbol| {
                symbol.is_definition() && symbol.name().is_ok_and(|name| name.starts_with(prefix))
            });
            symbols
                .map(|symbol| range(&symbol))
                .reduce(|all, one| all.start.min(one.start)..all.end.max(one.end))
                .ok_or_else(|| format!("the executable has no symbol {prefix}*: was it stripped?"))
        };
        let (loops, cores) = (section(CHASE_PREFIX)?, section(CORES_PREFIX)?);
        let routine = |name: &str| {
            let found = object.symbols().find(|symbol| symbol.is_definition() && symbol.name() == Ok(name));
            let found = found.map(|symbol| range(&symbol));
            found.ok_or_else(|| format!("the executable has no symbol {name}: was it stripped?"))
        };
        let blocks = |(name, operations, cycles): (&str, u64, u64)| {
            Ok::<_, String>((routine(name)?, operations * cycles))
        };
        let walks = routine(WALKS[0])?.start..routine(WALKS[1])?.end;
        let arithmetic = ARITHMETIC.into_iter().map(blocks).collect::<Result<_, _>>()?;
        let streams = object.symbols().filter(ObjectSymbol::is_definition).filter_map(|symbol| {
            let name = symbol.name().ok()?.strip_prefix(STREAM_PREFIX)?;
            Some((range(&symbol), name.to_owned()))
        });
        let streams = streams.collect();
        let entry = object.entry();
        Ok(Code {
            loops,
            streams,
            cores,
            walks,
            entry,
            all: text.address()..text.address() + text.size(),
            arithmetic,
        })
    }
}

fn range<'d>(symbol: &impl ObjectSymbol<'d>) -> Range<u64> {
    symbol.address()..symbol.address() + symbol.size().max(1)
}

/// Returns the argument of QEMU's `-plugin` for a model.
pub fn argument(plugin: &Path, model: &Model, code: &Code, report: &Path) -> String {
    let page = match model.pages {
        _ if model.small_host_pages => "4k",
        Some(Pages::Small) => "4k",
        Some(Pages::Large) => "2m",
        None if model.has_one_size() => "4k",
        // The kernel chooses, or all sizes are used.
        Some(Pages::Transparent) | None => "auto",
    };
    let mut words = vec![
        plugin.display().to_string(),
        format!("start={:#x},end={:#x},entry={:#x}", code.loops.start, code.loops.end, code.entry),
        format!(
            "{},page={page},report={}",
            if model.servers.is_empty() { CALIBRATION } else { LOADED },
            report.display()
        ),
    ];
    // Under load the truth is in the calls, which are many.
    words.extend(model.servers.is_empty().then(|| LISTED.to_owned()));
    // Without a counter the guest takes no stamps, and each window is a call of a loop.
    words.extend(
        (model.clock == Clock::Counter).then(|| format!("stamps={:#x}:{:#x}", code.all.start, code.all.end)),
    );
    words.extend(code.arithmetic.iter().map(|(routine, cycles)| {
        format!("block={:#x}:{:#x}:{}", routine.start, routine.end, cycles * model.cycle)
    }));
    // A single node means a machine without NUMA: all of its memory is node 0.
    if model.targets() > 1 {
        words.extend((0..model.targets()).map(|node| format!("backend={node}:{}", model.memory)));
    }
    words.extend((1..model.nodes).map(|node| {
        let first = node * model.cpus;
        match model.cpus {
            1 => format!("cpu={first}:{node}"),
            cpus => format!("cpu={first}-{}:{node}", first + cpus - 1),
        }
    }));
    words.extend(model.latencies.iter().map(|latency| {
        let super::Latency { from, to, ticks } = latency;
        format!("latency={from}:{to}:{ticks}")
    }));
    let level = |level: &super::Level, scope: &str| {
        let super::Level { size, ways, ticks, random } = level;
        format!("level={size}:{ways}:{ticks}{}{scope}", if *random { ":random" } else { "" })
    };
    words.extend(model.levels.iter().map(|own| level(own, "")));
    words.extend(
        model
            .last_level
            .iter()
            .flat_map(|last| [level(&last.level, ":node"), format!("other={}", last.other)]),
    );
    words.extend((model.directory_bit > 0).then(|| format!("directory-bit={}", model.directory_bit)));
    words.extend(model.shared.iter().map(|shared| level(shared, ":shared")));
    words.extend(model.hidden.iter().map(|hidden| level(hidden, ":shared")));
    words.extend(model.tlb.iter().map(|tlb| {
        let only = tlb.only.map_or(String::new(), |pages| format!(":{}", pages.word()));
        format!("tlb={}:{}{only}", tlb.entries, tlb.ticks)
    }));
    words.extend(model.tables.map(|node| format!("tables={node}")));
    words.extend((model.prefetch > 0).then(|| format!("prefetch={}", model.prefetch)));
    words.extend(model.adjacent.then(|| "adjacent=on".to_owned()));
    words.extend((model.neighbour > 0).then(|| format!("neighbour={}", model.neighbour)));
    if !model.servers.is_empty() {
        words.extend(model.servers.iter().map(|server| format!("server={server}")));
        words.extend(model.outstanding.iter().map(|lines| format!("outstanding={lines}")));
        let stream =
            |(code, name): &(Range<u64>, String)| format!("stream={:#x}:{:#x}:{name}", code.start, code.end);
        words.extend(code.streams.iter().map(stream));
    }
    if !model.coherence.is_empty() {
        words.extend(model.servers.is_empty().then(|| LAPS.to_owned()));
        for (name, code) in [("cores", &code.cores), ("walks", &code.walks)] {
            words.push(format!("{name}={:#x}:{:#x}", code.start, code.end));
        }
        words.extend(model.coherence.iter().cloned());
    }
    words.extend(model.noise.iter().map(|noise| format!("noise={}:{}", noise.percent, noise.every)));
    let ticks = |milliseconds: u64| (milliseconds as f64 / 1000.0 * host::frequency()) as u64;
    words.extend(model.drift.iter().map(|drift| format!("drift={}:{}", drift.percent, ticks(drift.period))));
    words.extend(
        model
            .burst
            .iter()
            .map(|burst| format!("burst={}:{}:{}", ticks(burst.every), ticks(burst.length), burst.percent)),
    );
    words.extend(model.pause.iter().map(|pause| format!("pause={}:{}", pause.every, pause.ticks)));
    words.extend(model.tails.iter().map(|tail| format!("tail={}:{}", tail.every, tail.ticks)));
    words.join(",")
}

/// Prefix of every line of the plugin's report.
pub const PREFIX: &str = "latency-lab: ";

/// The plugin's counts: lines `latency-lab: NAME VALUE`.
#[derive(Clone, Debug)]
pub struct Counts(pub String);

impl Counts {
    /// Returns a count by its name; zero if it is missing.
    pub fn count(&self, name: &str) -> u64 {
        let mut values = self.0.lines().filter_map(|line| {
            line.strip_prefix(PREFIX)?.strip_prefix(name)?.strip_prefix(' ')?.parse().ok()
        });
        values.next().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code() -> Code {
        Code {
            loops: 0x4000..0x40ff,
            all: 0x1000..0x9000,
            arithmetic: vec![(0x2000..0x2fff, 64)],
            streams: vec![(0x5000..0x5010, "read".into()), (0x5010..0x5020, "copy".into())],
            cores: 0x6000..0x6100,
            walks: 0x6080..0x60a0,
            entry: 0x1000,
        }
    }

    #[test]
    fn load_becomes_arguments() {
        let line = "nodes=2 cpus=2 latency=0:0:1000,0:1:2000,1:0:2000,1:1:1000 server=0:500 server=link:900:20:150 \
                    outstanding=9 pages=4k shared=1M:16:500 adjacent=on neighbour=300";
        let text = argument(Path::new("/p.so"), &line.parse().unwrap(), &code(), Path::new("/report"));
        let words: Vec<&str> = text.split(',').collect();
        for word in [
            "cpu=2-3:1",
            "server=0:500",
            "server=link:900:20:150",
            "outstanding=9",
            "calls=1",
            "absorb=256K",
            "level=1048576:16:500:shared",
            "adjacent=on",
            "neighbour=300",
        ] {
            assert!(words.contains(&word), "{word} in {text}");
        }
        assert!(text.ends_with("stream=0x5000:0x5010:read,stream=0x5010:0x5020:copy"), "{text}");
    }

    #[test]
    fn costs_between_cores_become_arguments() {
        let model = "cpus=2 latency=0:0:9 cluster=near:0-1 cost=near:load:*:5".parse().unwrap();
        let text = argument(Path::new("/p.so"), &model, &code(), Path::new("/report"));
        assert!(
            text.ends_with(
                "calls=256,cores=0x6000:0x6100,walks=0x6080:0x60a0,cluster=near:0-1,cost=near:load:*:5"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_model_becomes_arguments() {
        let line = "nodes=2 latency=0:0:1000,0:1:2000,1:0:2000,1:1:1000 level=32K:8:300 pause=5:9 \
                    level=64K:8:400:random llc=1M:16:500 other=1200 directory-bit=70 hidden=2M:16:800:random tlb=64:700 prefetch=4 noise=3:500 experiment=curve pages=thp";
        let model: Model = line.parse().unwrap();
        let code = code();
        let text = argument(Path::new("/p.so"), &model, &code, Path::new("/report"));
        assert_eq!(
            text,
            "/p.so,start=0x4000,end=0x40ff,entry=0x1000,absorb=64M,overhead=100,page=auto,report=/report,windows=8,\
             stamps=0x1000:0x9000,block=0x2000:0x2fff:256,backend=0:268435456,backend=1:268435456,cpu=1:1,latency=0:0:1000,latency=0:1:2000,\
             latency=1:0:2000,latency=1:1:1000,level=32768:8:300,level=65536:8:400:random,\
             level=1048576:16:500:node,other=1200,directory-bit=70,level=2097152:16:800:random:shared,\
             tlb=64:700,prefetch=4,noise=3:500,pause=5:9"
        );
    }

    #[test]
    fn page_tables_and_pages_of_the_host_become_arguments() {
        let text =
            |line: &str| argument(Path::new("/p.so"), &line.parse().unwrap(), &code(), Path::new("/report"));
        let nested = text("latency=0:0:9 tlb=64:700 tables=0 host-pages=4k pages=thp");
        assert!(nested.ends_with("tlb=64:700,tables=0") && nested.contains(",page=4k,"), "{nested}");
        assert!(text("latency=0:0:9 pages=thp").contains(",page=auto,"));
    }

    #[test]
    fn counts_are_found_by_their_whole_name() {
        let counts = Counts("latency-lab: loads 9\nlatency-lab: node 0 to node 1 loads 4\n".into());
        assert_eq!((counts.count("loads"), counts.count("node 0 to node 1 loads")), (9, 4));
        assert_eq!(counts.count("late hops"), 0);
    }
}
