//! The machine and the clock, in the form that programs read.

use core::fmt::{self, Display};

use latency_core::text::{Text, joined, plural};
use latency_core::units::Bytes;
use latency_core::words::Worded;

use super::optional::optional;
use super::time::Day;
use super::{attributes, conditions, dimms};
use crate::analysis::reference::contradiction;
use crate::machine::processor::CoreKind;
use crate::machine::{Instead, Machine};
use crate::options::Labels;
use crate::report::document::{PageRole, Part, Role, Value, fields};
use crate::report::shown::Shown;
use crate::report::words::words;
use crate::result::{KernelClock, Timer};
use crate::saved::Saved;

fields! {
    HOST "host" "Identity of the measured host.";
    HOST_NAME "name" "Host name; empty with --anonymous.";
    BOOT_ID "boot_id" "Boot ID: a random number of each kernel start, which distinguishes hosts of one name and reboots; empty with --anonymous.";
    CPU_MODEL "cpu_model" "Model name of the processor.";
    LABELS "labels" "Labels given by --label.";
    SYSTEM "system" "Hardware, kernel and settings of the host.";
    MACHINE "machine" "Machine model by sysfs (DMI); empty in many virtual machines.";
    MACHINE_VENDOR "vendor" "Vendor of the machine.";
    PRODUCT "product" "Product name of the machine.";
    FIRMWARE "bios_version" "Firmware version of the machine.";
    MICROCODE "microcode" "Microcode revision of the processor.";
    CPU "cpu" "Processor, by its own registers.";
    VENDOR "vendor" "Vendor of the processor.";
    BRAND "brand" "Model name of the processor.";
    FAMILY "family" "Family of the processor.";
    MODEL "model" "Model number of the processor.";
    STEPPING "stepping" "Stepping of the processor.";
    MASKED "model_masked" "True if extensions or sizes of private caches are not of the reported model: a hypervisor hides the real one.";
    CORE_TYPE "core_type" "Core type of the measuring CPU on hybrid processors; null otherwise.";
    PREFETCHER "data_dependent_prefetcher" "True if the processor reports a data-dependent prefetcher.";
    KERNEL "kernel" "Kernel release.";
    PLATFORM "platform" "Bare metal, a virtual machine, or an emulator.";
    HYPERVISOR "hypervisor" "Name of the hypervisor; empty without one.";
    CLOCK_SOURCE "clock_source" "Clock source of the kernel.";
    GOVERNOR "governor" "CPU frequency governor.";
    ENCRYPTION "memory_encryption" "Memory encryption: `SEV`, `SEV-ES`, `SEV-SNP` or `TDX` of a guest, by its processor; `SME`, `TME`, `SEV-SNP` and `TDX` that are enabled on hardware, by the kernel. Empty if none is known: firmware can encrypt without telling.";
    PROFILE "platform_profile" "Power profile of the firmware; empty without one.";
    PREFERENCE "energy_preference" "Preference of the CPU between speed and energy; empty without one.";
    IDLE "deepest_idle_state" "Deepest idle state of the CPU that is enabled; empty if unknown.";
    CELSIUS "dimm_celsius" "Temperature of the hottest memory device before the run, in degrees Celsius; null if unknown.";
    GIVEN_UP "memory_given_up_bytes" "Memory that the kernel no longer uses because of errors, in bytes; null if unknown.";
    HUGE_PAGES "transparent_huge_pages" "Setting of transparent huge pages: `always`, `madvise` or `never`; empty if unsupported.";
    BALANCING "numa_balancing" "Value of kernel.numa_balancing: 0 is off; null if unknown.";
    NODES "nodes" "NUMA nodes.";
    ID "id" "Node number.";
    CPUS "cpus" "CPUs of the node.";
    MEMORY "memory_bytes" "Memory of the node, in bytes.";
    FREE "free_bytes" "Free memory of the node, in bytes.";
    FAILED "failed_pages" "Number of pages in which hardware found errors since boot; null if unknown.";
    CAN_GIVE "can_give_bytes" "Memory that this process can allocate on the node within its control group, in bytes.";
    DISTANCES "distances" "Distances to all nodes by firmware (SLIT); 10 is local.";
    POOLS "page_pools" "Huge page pools of the node.";
    PAGE_BYTES "page_bytes" "Page size in bytes.";
    TOTAL "total" "Number of pages in the pool.";
    POOL_FREE "free" "Number of free pages in the pool.";
    CACHES "caches" "Reported caches of the measuring CPU.";
    LEVEL "level" "Cache level, counted from the core.";
    KIND "type" "Cache type: data, instruction or unified.";
    BYTES "bytes" "Capacity of the cache, in bytes.";
    WAYS "ways" "Associativity of the cache.";
    L3_WAYS "l3_ways_allowed" "L3 ways that resctrl allows for this process, and all ways, as bit masks; null without resctrl.";
    CLOCK "clock" "Clock that times trials.";
    SOURCE "source" "`tsc` (time-stamp counter), `cntvct` (system counter) or `clock_gettime` (clock of the kernel).";
    FREQUENCY "frequency_hz" "Frequency of the clock in ticks per second.";
    SPREAD "calibration_spread_ppm" "Difference between two calibrations, in parts per million.";
    INVARIANT "invariant" "True if the processor promises a constant rate in all power states.";
    DECLARED "declared_hz" "Frequency that the processor or the hypervisor declares; null if none.";
    STEP_TICKS "step_ticks" "Resolution of the clock, in ticks.";
    OVERHEAD_TICKS "overhead_ticks" "Cost of an empty pair of time stamps, in ticks; it is subtracted.";
    FENCE "fence_ratio" "Time of a pair of stamps with multiplications between them, divided by the time without: above 1 if the fence waits.";
    END_STAMP "end_stamp" "Instruction sequence of the end stamp.";
    STEP_NS "step_ns" "Resolution of the clock, in nanoseconds.";
    OVERHEAD_NS "overhead_ns" "Cost of two clock readings, in nanoseconds; it is subtracted.";
}

/// Returns the name of the processor from its registers, or else from /proc.
#[must_use]
pub fn cpu_model(machine: &Machine) -> &str {
    let brand =
        if machine.processor.brand.is_empty() { &machine.host.cpu_model } else { &machine.processor.brand };
    brand.as_str()
}

/// Describes the identity of this host, without information about its owner.
pub fn host(document: &mut Shown, machine: &Machine, labels: &Labels<'_>) {
    document.part(Part::Object(&HOST), |document| {
        document.put(&HOST_NAME, machine.host.identity.name.as_str());
        document.put(&BOOT_ID, machine.host.identity.boot.as_str());
        document.put(&CPU_MODEL, cpu_model(machine));
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
    document.sentence(
        Role::Page(PageRole::Origin),
        format_args!("{}{when}", optional(name, |name, out| write!(out, "{name}, "))),
    );
    let cpus = machine.topology.online_cpus.len();
    // Cores of several kinds have different numbers of threads, so those of one core tell nothing about the others.
    let threads =
        host.caches.data(1).filter(|_| processor.core.is_none()).map(|cache| cache.shared_by.len().max(1));
    let cores = optional(threads, |threads, out| {
        let cores = cpus / threads;
        write!(out, "{cores} core{}, ", plural(cores))
    });
    let cores = Text::<96>::of(format_args!("{cores}{cpus} CPU{}", plural(cpus)));
    let bytes = Bytes(nodes.iter().map(|node| machine.memory_of(node).0).sum());
    let memory = Text::<96>::of(format_args!("{bytes} in {} NUMA node{}", nodes.len(), plural(nodes.len())));
    let chosen = machine.instead.iter().map(|Instead { first, busy, cpu }| {
        core::fmt::from_fn(move |out| {
            write!(out, "CPU {cpu}, since CPU {first} was {:.0}% busy", busy * 100.0)
        })
    });
    let chosen = Text::<96>::of(format_args!("{}", joined("", "; ", chosen)));
    let of_two = |words: [&str; 2]| {
        let known = words.iter().filter(|word| !word.is_empty());
        Text::<160>::of(format_args!("{}", joined("", " ", known)))
    };
    fact(document, "CPU", cpu_model(machine));
    fact(document, "Cores", cores.as_str());
    fact(document, "Measured on", chosen.as_str());
    fact(document, "Memory", memory.as_str());
    dimms::line(document, machine, Role::Page(PageRole::Fact("DIMMs")));
    fact(document, "Lost memory", lost_memory(machine).as_str());
    fact(document, "Encryption", processor.encryption.as_str());
    fact(document, "Governor", host.frequency.governor.as_str());
    fact(document, "THP mode", host.huge_pages.enabled.as_str());
    fact(document, "Machine", of_two([identity.vendor.as_str(), identity.product.as_str()]).as_str());
    fact(document, "BIOS", identity.firmware.as_str());
    fact(document, "Microcode", identity.microcode.as_str());
    fact(document, "Platform", of_two([processor.platform.name(), processor.hypervisor.as_str()]).as_str());
    fact(document, "Kernel", host.kernel.as_str());
}

/// Returns the memory that the kernel lost because of errors since it started, in words; empty if none is known.
#[must_use]
pub fn lost_memory(machine: &Machine) -> Text<160> {
    let mut words = Text::EMPTY;
    // Nodes that do not fit are left out.
    if let Some(bytes @ Bytes(1..)) = machine.host.memory_given_up {
        let _ = write!(words, "{bytes} given up because of errors");
    }
    for node in machine.topology.nodes() {
        if let Some(pages @ 1..) = node.failed_pages {
            let next = if words.is_empty() { "" } else { "; " };
            let _ = write!(words, "{next}failed pages of node {}: {pages}", node.id);
        }
    }
    words
}

/// Writes a fact about the machine, if it is known.
fn fact(document: &mut Shown, label: &'static str, words: &str) {
    if !words.is_empty() {
        document.sentence(Role::Page(PageRole::Fact(label)), format_args!("{words}"));
    }
}

/// Writes processor, kernel and date, for the footer of a picture; not the name of the host.
pub fn footer(document: &mut Shown, machine: &Machine, started: u64) {
    let origin = footer_words(cpu_model(machine), machine.host.kernel.as_str(), started);
    document.sentence(Role::Page(PageRole::Footer), format_args!("{origin}"));
}

/// Writes processor, kernel and date of saved results, for the footer of a picture. Results that follow each other and
/// agree in them are named once.
pub fn saved_footer<'s>(document: &mut Shown, saved: &dyn Fn(usize) -> Option<&'s Saved>) {
    let origins = fmt::from_fn(|out| {
        let mut last = Text::<160>::EMPTY;
        for saved in (0..).map_while(saved) {
            let [cpu, kernel] = [saved.named_cpu(), saved.named_kernel()].map(Option::unwrap_or_default);
            let this = Text::of(format_args!("{}", footer_words(cpu, kernel, saved.origin.started)));
            if this != last {
                write!(out, "{this}")?;
            }
            last = this;
        }
        Ok(())
    });
    document.sentence(Role::Page(PageRole::Footer), format_args!("{origins}"));
}

/// Returns processor, kernel and date, as far as they are known, each with the sign that separates it from the next text.
fn footer_words(cpu: &str, kernel: &str, started: u64) -> impl Display {
    fmt::from_fn(move |out| {
        let linux = if kernel.is_empty() { "" } else { "Linux " };
        let mut known = [("", cpu), (linux, kernel)].into_iter().filter(|(_, word)| !word.is_empty());
        known.try_for_each(|(before, word)| write!(out, "{before}{word} \u{b7} "))?;
        if started == 0 { Ok(()) } else { write!(out, "{} \u{b7} ", Day(started / 86_400)) }
    })
}

/// Describes the machine.
pub fn machine(document: &mut Shown, machine: &Machine) {
    let processor = &machine.processor;
    let host = &machine.host;
    document.part(Part::Object(&SYSTEM), |document| {
        let identity = &host.identity;
        document.part(Part::Object(&MACHINE), |document| {
            document.put(&MACHINE_VENDOR, identity.vendor.as_str());
            document.put(&PRODUCT, identity.product.as_str());
            document.put(&FIRMWARE, identity.firmware.as_str());
        });
        document.part(Part::Object(&CPU), |document| {
            document.put(&MICROCODE, identity.microcode.as_str());
            document.put(&VENDOR, processor.vendor.as_str());
            document.put(&BRAND, processor.brand.as_str());
            let (family, model, stepping) = processor.signature;
            document.put(&FAMILY, u64::from(family));
            document.put(&MODEL, u64::from(model));
            document.put(&STEPPING, u64::from(stepping));
            document.put(&MASKED, contradiction(processor).is_some());
            document.put(&CORE_TYPE, processor.core.map(CoreKind::name));
            document.put(&PREFETCHER, processor.data_dependent_prefetcher);
        });
        document.put(&KERNEL, host.kernel.as_str());
        document.put(&PLATFORM, processor.platform.name());
        document.put(&HYPERVISOR, processor.hypervisor.as_str());
        document.put(&CLOCK_SOURCE, host.clock_source.as_str());
        document.put(&GOVERNOR, host.frequency.governor.as_str());
        document.put(&ENCRYPTION, processor.encryption.as_str());
        document.put(&PROFILE, host.power.profile.as_str());
        document.put(&PREFERENCE, host.power.preference.as_str());
        document.put(&IDLE, host.power.deepest_idle.as_str());
        document.put(&CELSIUS, host.dimm_heat.map(conditions::celsius));
        document.put(&GIVEN_UP, host.memory_given_up);
        document.put(&HUGE_PAGES, host.huge_pages.enabled.as_str());
        document.put(&BALANCING, host.numa_balancing.map(u64::from));
        nodes(document, machine);
        document.items(Part::List(&CACHES), host.caches.as_slice(), |document, cache| {
            document.put(&LEVEL, u64::from(cache.level));
            document.put(&KIND, cache.kind.word());
            document.put(&BYTES, cache.size);
            document.put(&WAYS, u64::from(cache.ways));
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
        document.put(&ID, node.id.0);
        document.show(&CPUS, &node.cpus);
        document.put(&MEMORY, machine.memory_of(node));
        document.put(&FREE, node.memory_free);
        document.put(&FAILED, node.failed_pages);
        document.put(&CAN_GIVE, machine.free_memory(node.id));
        document.values(
            &DISTANCES,
            machine
                .topology
                .nodes()
                .iter()
                .map(|other| machine.topology.distance(node.id, other.id).map(u64::from)),
        );
        document.items(Part::List(&POOLS), node.pools(), |document, (size, pool)| {
            document.put(&PAGE_BYTES, size.bytes());
            document.put(&TOTAL, pool.total);
            document.put(&POOL_FREE, pool.free);
        });
        attributes::members(document, &node.attributes);
    });
}

/// Describes the clock.
pub fn clock(document: &mut Shown, clock: &Timer) {
    document.part(Part::Object(&CLOCK), |document| match *clock {
        Timer::Counter(counter) => {
            document.put(&SOURCE, words().counter_source);
            document.put(&FREQUENCY, counter.frequency.0);
            document.put(&SPREAD, counter.spread_ppm);
            document.put(&INVARIANT, counter.invariant);
            document.put(&DECLARED, counter.declared.map(|declared| declared.0));
            document.put(&STEP_TICKS, counter.step.0);
            document.put(&OVERHEAD_TICKS, counter.overhead.0);
            document.put(&FENCE, counter.fence_ratio);
            document.put(&END_STAMP, words().end_stamp.unwrap_or(counter.stamp.name()));
        }
        Timer::Kernel(KernelClock { step_ns, overhead_ns }) => {
            document.put(&SOURCE, "clock_gettime");
            document.put(&STEP_NS, step_ns);
            document.put(&OVERHEAD_NS, overhead_ns);
        }
    });
}
