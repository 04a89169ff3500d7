//! The machine, the clock, and the search for caches and memory before the run, in the form that programs read.

use alloc::string::String;
use core::fmt::{self, Display};

use latency_core::{Bytes, Worded, plural};

use super::rates::optional;
use super::time::day;
use super::{Report, attributes, conditions, dimms};
use crate::analysis::reference::contradiction;
use crate::options::Labels;
use crate::record::members::{
    BIOS_VERSION, BOOT_ID, CACHE_BYTES, CACHE_LEVEL, CACHE_TYPE, CACHES, CLOCK, CLOCK_SOURCE, CORE_TYPE,
    COUNTER, CPU, CPU_BRAND, CPU_FAMILY, CPU_MASKED, CPU_MODEL, CPU_MODEL_NUMBER, CPU_STEPPING, CPU_VENDOR,
    GOVERNOR, HOST, HOST_NAME, HUGE_PAGES, HYPERVISOR, KERNEL_RELEASE, LABELS, MACHINE, MACHINE_PRODUCT,
    MEMORY_ENCRYPTION, MICROCODE, NODE_CPUS, NODES, PLATFORM, SYSTEM,
};
use crate::saved::Saved;
use latency_engine::machine::{CoreKind, Instead, Machine};
use latency_engine::result::{KernelClock, Timer};
use latency_engine::words::words;
use latency_report::document::{fields, members};
use latency_report::lists::joined;
use latency_report::{Digits, PageRole, Part, Role, Shown, Value};

fields! {
    DISTANCES "distances" "Distances to all nodes by firmware (SLIT); 10 is local.";
    POOLS "page_pools" "Huge page pools of the node.";
    L3_WAYS "l3_ways_allowed" "L3 ways that resctrl allows for this process, and all ways, as bit masks; null without resctrl.";
    STEP_NS "step_ns" "Resolution of the clock, in nanoseconds.";
    OVERHEAD_NS "overhead_ns" "Cost of two clock readings, in nanoseconds; it is subtracted.";
}

/// Returns the name of the processor from its registers, or else from /proc.
pub fn cpu_model(machine: &Machine) -> &str {
    let brand =
        if machine.processor.brand.is_empty() { &machine.host.cpu_model } else { &machine.processor.brand };
    brand.as_str()
}

/// Describes the identity of this host, without information about its owner.
pub fn host(document: &mut Shown, machine: &Machine, labels: &Labels) {
    document.part(Part::Object(&HOST), |document| {
        members! { document;
            HOST_NAME: machine.host.identity.name.as_str();
            BOOT_ID: machine.host.identity.boot.as_str();
            CPU_MODEL: cpu_model(machine);
        }
        document.part(Part::Object(&LABELS), |document| {
            for (key, value) in labels.iter() {
                document.named(key, Value::Raw(value.into()));
            }
        });
    });
}

/// Writes the host, the time of the measurement and the facts that explain a result, for a page.
pub fn origin(document: &mut Shown, machine: &Machine, when: &dyn Display) {
    let (host, processor, nodes) = (&machine.host, &machine.processor, machine.topology.nodes());
    let identity = &host.identity;
    let name = Some(identity.name.as_str()).filter(|name| !name.is_empty());
    document
        .under(Role::Page(PageRole::Origin))
        .write(format_args!("{}{when}", optional(name, |name, out| write!(out, "{name}, "))));
    let cpus = machine.topology.online_cpus.len();
    // Cores of several kinds have different numbers of threads, so those of one core tell nothing about the others.
    let threads =
        host.caches.data(1).filter(|_| processor.core.is_none()).map(|cache| cache.shared_by.len().max(1));
    let cores = optional(threads, |threads, out| {
        let cores = cpus / threads;
        write!(out, "{cores} core{}, ", plural(cores))
    });
    let bytes = Bytes(nodes.iter().map(|node| machine.memory_of(node).0).sum());
    let chosen = machine.instead.iter().map(|Instead { first, busy, cpu }| {
        fmt::from_fn(move |out| write!(out, "CPU {cpu}, since CPU {first} was {:.0}% busy", busy * 100.0))
    });
    let of_two = |words: [&str; 2]| {
        let known = words.iter().filter(|word| !word.is_empty());
        joined("", " ", known)
    };
    let mut fact = |label, words: &str| {
        if !words.is_empty() {
            document.say(Role::Page(PageRole::Fact(label)), words);
        }
    };
    fact("CPU", cpu_model(machine));
    fact("Cores", &format!("{cores}{cpus} CPU{}", plural(cpus)));
    fact("Measured on", &joined("", "; ", chosen));
    fact("Memory", &format!("{bytes} in {} NUMA node{}", nodes.len(), plural(nodes.len())));
    fact("DIMMs", &dimms::words(machine));
    fact("Lost memory", &lost_memory(machine));
    fact("Encryption", processor.encryption.as_str());
    fact("Governor", host.frequency.governor.as_str());
    fact("THP mode", host.huge_pages.enabled.as_str());
    fact("Machine", &of_two([identity.vendor.as_str(), identity.product.as_str()]));
    fact("BIOS", identity.firmware.as_str());
    fact("Microcode", identity.microcode.as_str());
    fact("Platform", &of_two([processor.platform.word(), processor.hypervisor.as_str()]));
    fact("Kernel", host.kernel.as_str());
}

/// Returns the memory that the kernel lost because of errors since it started, in words; empty if none is known.
pub fn lost_memory(machine: &Machine) -> String {
    let mut words = String::new();
    if let Some(bytes @ Bytes(1..)) = machine.host.memory_given_up {
        words = format!("{bytes} given up because of errors");
    }
    for node in machine.topology.nodes() {
        if let Some(pages @ 1..) = node.failed_pages {
            let next = if words.is_empty() { "" } else { "; " };
            words += &format!("{next}failed pages of node {}: {pages}", node.id);
        }
    }
    words
}

/// Writes processor, kernel and date, for the footer of a picture; not the name of the host.
pub fn footer(document: &mut Shown, machine: &Machine, started: u64) {
    let origin = footer_words(cpu_model(machine), machine.host.kernel.as_str(), started);
    document.say(Role::Page(PageRole::Footer), &origin);
}

/// Writes processor, kernel and date of saved results, for the footer of a picture. Results that follow each other and
/// agree in them are named once.
pub fn saved_footer<'s>(document: &mut Shown, saved: &dyn Fn(usize) -> Option<&'s Saved>) {
    let (mut origins, mut last) = (String::new(), String::new());
    for saved in (0..).map_while(saved) {
        let [cpu, kernel] = [saved.named_cpu(), saved.named_kernel()].map(Option::unwrap_or_default);
        let this = footer_words(cpu, kernel, saved.origin.started);
        if this != last {
            origins += &this;
        }
        last = this;
    }
    document.say(Role::Page(PageRole::Footer), &origins);
}

/// Returns processor, kernel and date, as far as they are known, each with the sign that separates it from the next text.
fn footer_words(cpu: &str, kernel: &str, started: u64) -> String {
    let mut words = String::new();
    for (before, word) in [("", cpu), ("Linux ", kernel)].into_iter().filter(|(_, word)| !word.is_empty()) {
        words += &format!("{before}{word} \u{b7} ");
    }
    if started > 0 {
        words += &format!("{} \u{b7} ", day(started / 86_400));
    }
    words
}

/// Describes the machine.
pub fn machine(document: &mut Shown, machine: &Machine) {
    let processor = &machine.processor;
    let host = &machine.host;
    document.part(Part::Object(&SYSTEM), |document| {
        let identity = &host.identity;
        document.part(Part::Object(&MACHINE), |document| {
            members! { document;
                "vendor": identity.vendor.as_str() => "Vendor of the machine.";
                MACHINE_PRODUCT: identity.product.as_str();
                BIOS_VERSION: identity.firmware.as_str();
            }
        });
        document.part(Part::Object(&CPU), |document| {
            members! { document;
                MICROCODE: identity.microcode.as_str();
                CPU_VENDOR: processor.vendor.as_str();
                CPU_BRAND: processor.brand.as_str();
            }
            let (family, model, stepping) = processor.signature;
            members! { document;
                CPU_FAMILY: u64::from(family);
                CPU_MODEL_NUMBER: u64::from(model);
                CPU_STEPPING: u64::from(stepping);
                CPU_MASKED: contradiction(processor).is_some();
                CORE_TYPE: processor.core.map(CoreKind::name);
                "data_dependent_prefetcher": processor.data_dependent_prefetcher => "True if the processor reports a data-dependent prefetcher.";
            }
        });
        members! { document;
            KERNEL_RELEASE: host.kernel.as_str();
            PLATFORM: processor.platform.word();
            HYPERVISOR: processor.hypervisor.as_str();
            CLOCK_SOURCE: host.clock_source.as_str();
            GOVERNOR: host.frequency.governor.as_str();
            MEMORY_ENCRYPTION: processor.encryption.as_str();
            "platform_profile": host.power.profile.as_str() => "Power profile of the firmware; empty without one.";
            "energy_preference": host.power.preference.as_str() => "Preference of the CPU between speed and energy; empty without one.";
            "deepest_idle_state": host.power.deepest_idle.as_str() => "Deepest idle state of the CPU that is enabled; empty if unknown.";
            "dimm_celsius": host.dimm_heat.map(conditions::celsius) => "Temperature of the hottest memory device before the run, in degrees Celsius; null if unknown.";
            "memory_given_up_bytes": host.memory_given_up => "Memory that the kernel no longer uses because of errors, in bytes; null if unknown.";
            HUGE_PAGES: host.huge_pages.enabled.as_str();
            "numa_balancing": host.numa_balancing.map(u64::from) => "Value of kernel.numa_balancing: 0 is off; null if unknown.";
        }
        nodes(document, machine);
        document.items(Part::List(&CACHES), host.caches.as_slice(), |document, cache| {
            members! { document;
                CACHE_LEVEL: u64::from(cache.level);
                CACHE_TYPE: cache.kind.word();
                CACHE_BYTES: cache.size;
                "ways": u64::from(cache.ways) => "Associativity of the cache.";
            }
        });
        match &host.ways {
            Some(ways) => document.show(&L3_WAYS, ways),
            None => document.put(&L3_WAYS, None::<bool>),
        }
        dimms::members(document, machine);
    });
}

fn nodes(document: &mut Shown, machine: &Machine) {
    document.items(Part::List(&NODES), machine.topology.nodes(), |document, node| {
        members! { document;
            "id": node.id.0 => "Node number.";
            NODE_CPUS: Value::shown(&node.cpus);
            "memory_bytes": machine.memory_of(node) => "Memory of the node, in bytes.";
            "free_bytes": node.memory_free => "Free memory of the node, in bytes.";
            "failed_pages": node.failed_pages => "Number of pages in which hardware found errors since boot; null if unknown.";
            "can_give_bytes": machine.free_memory(node.id) => "Memory that this process can allocate on the node within its control group, in bytes.";
        }
        document.values(
            &DISTANCES,
            machine
                .topology
                .nodes()
                .iter()
                .map(|other| machine.topology.distance(node.id, other.id).map(u64::from)),
        );
        document.items(Part::List(&POOLS), node.pools(), |document, (size, pool)| {
            members! { document;
                "page_bytes": size.bytes() => "Page size in bytes.";
                "total": pool.total => "Number of pages in the pool.";
                "free": pool.free => "Number of free pages in the pool.";
            }
        });
        attributes::members(document, &node.attributes);
    });
}

/// Describes the clock.
pub fn clock(document: &mut Shown, clock: &Timer) {
    document.part(Part::Object(&CLOCK), |document| match *clock {
        Timer::Counter(counter) => {
            document.put(&COUNTER, words().counter_source);
            members! { document;
                "frequency_hz": counter.frequency.0 => "Frequency of the clock in ticks per second.";
                "calibration_spread_ppm": counter.spread_ppm => "Difference between two calibrations, in parts per million.";
                "invariant": counter.invariant => "True if the processor promises a constant rate in all power states.";
                "declared_hz": counter.declared.map(|declared| declared.0) => "Frequency that the processor or the hypervisor declares; null if none.";
                "step_ticks": counter.step.0 => "Resolution of the clock, in ticks.";
                "overhead_ticks": counter.overhead.0 => "Cost of an empty pair of time stamps, in ticks; it is subtracted.";
                "fence_ratio": counter.fence_ratio => "Time of a pair of stamps with multiplications between them, divided by the time without: above 1 if the fence waits.";
                "end_stamp": words().end_stamp.unwrap_or(counter.stamp.name()) => "Instruction sequence of the end stamp.";
            }
        }
        Timer::Kernel(KernelClock { step_ns, overhead_ns }) => {
            document.put(&COUNTER, "clock_gettime");
            document.put(&STEP_NS, step_ns);
            document.put(&OVERHEAD_NS, overhead_ns);
        }
    });
}

fields! {
    SIZING "sizing" "Search for the default working set; null if --size or --max-size gives it, or if there was no time.";
}

/// Describes the choice of the working set.
pub fn sizing(document: &mut Shown, report: &Report<'_>) {
    let machine = report.machine;
    let Some(sizing) = machine.sizing else { return document.put(&SIZING, None::<bool>) };
    document.part(Part::Object(&SIZING), |document| {
        members! { document;
            "first_working_set_bytes": sizing.first => "Working set at the start of the search, in bytes.";
            "working_set_bytes": sizing.size => "Working set for memory that the search chose, in bytes.";
            "warm_over_cold": sizing.warm_over_cold => "Time per load after a complete pass, divided by the time of loads that no cache serves.";
            "clear": sizing.clear => "True if no cache serves the working set; false if memory did not allow more, null if there was no time or passes differ too much.";
            "reported_cache_bytes": machine.reported_cache() => "Capacity of the last-level cache by sysfs or the processor, in bytes.";
            "planned_cache_bytes": machine.last_level_cache() => "Capacity of the last-level cache that the plan assumes, in bytes; differs from the reported one if the search found another.";
            "cache_sought": sizing.cache_sought => "True if the search measured smaller working sets to find the last-level cache.";
            "in_cache_bytes": sizing.in_cache => "Working set that the last-level cache serves, and no nearer one, in bytes; null if none was found.";
            "duration_s": sizing.seconds => "Duration of the search, in seconds.";
        }
    });
    document.under(Role::Detail("Working set")).write(format_args!(
        "{} found by a search of {} s: warm/cold latency ratio {:.3}; assumed last-level cache {}{}",
        sizing.size,
        Digits(sizing.seconds),
        sizing.warm_over_cold,
        machine.last_level_cache(),
        optional(sizing.in_cache, |size, out| write!(out, " (serves {size})"))
    ));
}
