//! Descriptions of whole machines, read from fixtures.

mod machine;

use latency_core::cpulist::CpuSet;
use latency_core::host::{Bound, CacheKind, Host, MemoryLimit, Power, Throttle, Uncore};
use latency_core::units::{Bytes, CpuId};
use machine::Machine;
use proptest::prelude::*;

fn read(machine: &Machine) -> Box<Host> {
    let mut host = Box::<Host>::default();
    host.read(machine, CpuId(0));
    host
}

fn host(name: &str) -> Box<Host> {
    read(&Machine::load(name))
}

#[test]
fn virtual_machine() {
    let host = host("one-node");
    assert_eq!(host.kernel, "6.1.0-25-cloud-amd64");
    assert_eq!(host.cpu_model, "AMD EPYC 9R14");
    assert_eq!(host.clock_source, "kvm-clock");
    assert!(host.frequency.driver.is_empty() && host.frequency.governor.is_empty());
    assert_eq!(host.huge_pages.enabled, "always");
    assert_eq!(host.huge_pages.defragment, "madvise");
    assert_eq!(host.numa_balancing, Some(0));
    assert_eq!(host.perf_event_paranoid, Some(-1));
    assert_eq!(host.memory_total, Some(Bytes(16_384_000 << 10)));
    assert_eq!(host.memory_available, Some(Bytes(15_700_000 << 10)));
    assert_eq!(host.memory_limit, None);
    assert!(!host.process.filtered && host.process.perfmon);
}

#[test]
fn caches() {
    let host = host("one-node");
    let found: Vec<_> =
        host.caches.as_slice().iter().map(|cache| (cache.level, cache.kind, cache.size.0 >> 10)).collect();
    assert_eq!(
        found,
        [
            (1, CacheKind::Data, 32),
            (1, CacheKind::Instruction, 32),
            (2, CacheKind::Unified, 1024),
            (3, CacheKind::Unified, 32768),
        ]
    );
    let last = host.caches.last_level().unwrap();
    assert_eq!((last.level, last.ways, last.line), (3, 16, Bytes(64)));
    assert_eq!(last.shared_by.to_string(), "0-1");
    assert_eq!(host.caches.data(1).unwrap().kind, CacheKind::Data);
    assert!(host.caches.data(4).is_none());
}

#[test]
fn server() {
    let host = host("two-sockets");
    assert_eq!(
        (host.frequency.driver.as_str(), host.frequency.governor.as_str()),
        ("intel_pstate", "powersave")
    );
    assert_eq!(host.huge_pages.enabled, "madvise");
    assert_eq!(host.numa_balancing, Some(1));
    assert_eq!(host.caches.data(1).unwrap().ways, 12);
    assert_eq!(host.caches.last_level().unwrap().shared_by.len(), 64);
    assert_eq!(host.process.cpus_allowed.len(), 128);
    assert!(!host.process.filtered && !host.process.perfmon);
}

#[test]
fn filtered_container_without_sysfs() {
    let host = host("no-sysfs");
    assert_eq!(host.process.cpus_allowed, CpuSet::parse_list(b"2-5").unwrap());
    assert_eq!(host.process.mems_allowed.to_string(), "0");
    assert!(host.process.filtered && !host.process.perfmon);
    assert_eq!(host.cpu_model, "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz");
    assert!(host.caches.as_slice().is_empty() && host.caches.last_level().is_none());
    assert!(host.clock_source.is_empty() && host.huge_pages.enabled.is_empty());
    assert_eq!(host.memory_limit, None);
}

#[test]
fn limit_of_version_1_at_the_mount_point() {
    let limit = host("kernel-without-numa").memory_limit.unwrap();
    let expected =
        MemoryLimit { limit: Bytes::GIB, usage: Bytes::MIB.times(700), headroom: Bytes::MIB.times(724) };
    assert_eq!(limit, expected);
}

#[test]
fn limit_of_a_group_above() {
    let host = host("cpuset-part");
    // The group above allows 8 GiB and needs 1 of its 2; the inner one allows 16 and needs 12.
    let expected =
        MemoryLimit { limit: Bytes::GIB.times(8), usage: Bytes::GIB.times(2), headroom: Bytes::GIB.times(4) };
    assert_eq!(host.memory_limit, Some(expected));
    assert_eq!(host.process.cpus_allowed.to_string(), "32-35");
    assert_eq!(host.process.mems_allowed.to_string(), "1");
}

#[test]
fn a_group_outside_of_the_mount_leaves_the_mount_point() {
    let mut machine = Machine::default();
    machine.set("/proc/self/cgroup", "0::/../../other\n");
    machine.set("/sys/fs/cgroup/memory.max", "536870912\n");
    machine.set("/sys/fs/cgroup/../../other/memory.max", "1024\n");
    assert_eq!(read(&machine).memory_limit.unwrap().limit, Bytes::MIB.times(512));
    machine.set("/proc/self/cgroup", &format!("0::/{}\n", "long/".repeat(300)));
    assert_eq!(read(&machine).memory_limit.unwrap().limit, Bytes::MIB.times(512));
}

/// Sets the quota and the count of one group of version 2.
fn quota(machine: &mut Machine, group: &str, quota: &str, times: u64) {
    machine.set(&format!("/sys/fs/cgroup{group}/cpu.max"), quota);
    let statistics = format!("usage_usec 7\nnr_periods 100\nnr_throttled {times}\nthrottled_usec 9\n");
    machine.set(&format!("/sys/fs/cgroup{group}/cpu.stat"), &statistics);
}

#[test]
fn the_tightest_quota_of_cpu_time_counts_and_all_stops_are_summed() {
    let mut machine = Machine::default();
    machine.set("/proc/self/cgroup", "0::/kubepods/pod/container\n");
    quota(&mut machine, "/kubepods/pod/container", "200000 100000\n", 3);
    quota(&mut machine, "/kubepods/pod", "150000 100000\n", 40);
    quota(&mut machine, "/kubepods", "max 100000\n", 500);
    let throttle = read(&machine).throttle.unwrap();
    assert_eq!((throttle.cpus, throttle.file, throttle.times), (1.5, "cpu.max", Some(43)));
    quota(&mut machine, "/kubepods/pod", "150000 100000\n", 42);
    assert_eq!(throttle.count(&machine), Some(45));
    assert_eq!(throttle.count(&Machine::default()), None);
}

#[test]
fn a_quota_of_the_mount_point_is_found_once() {
    let mut machine = Machine::default();
    for groups in ["0::/\n", "0::/host/only\n", "0::/../x\n", ""] {
        machine.set("/proc/self/cgroup", groups);
        quota(&mut machine, "", "50000 100000\n", 11);
        let throttle = read(&machine).throttle.unwrap();
        assert_eq!((throttle.cpus, throttle.times), (0.5, Some(11)), "{groups}");
    }
}

#[test]
fn a_quota_of_version_1_is_found_under_either_name() {
    let mut machine = Machine::default();
    machine.set("/proc/self/cgroup", "4:memory:/a\n3:cpu,cpuacct:/a\n0::/b\n");
    let both = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"];
    for root in both {
        machine.set(&format!("{root}/a/cpu.cfs_quota_us"), "25000\n");
        machine.set(&format!("{root}/a/cpu.cfs_period_us"), "100000\n");
        machine.set(&format!("{root}/a/cpu.stat"), "nr_periods 9\nnr_throttled 8\nthrottled_time 7\n");
        machine.set(&format!("{root}/cpu.cfs_quota_us"), "-1\n");
        machine.set(&format!("{root}/cpu.cfs_period_us"), "100000\n");
        let throttle = read(&machine).throttle.unwrap();
        assert_eq!((throttle.cpus, throttle.file, throttle.times), (0.25, "cpu.cfs_quota_us", Some(8)));
    }
    machine.0.retain(|path, _| !path.starts_with("/sys/fs/cgroup/cpu/"));
    assert_eq!(read(&machine).throttle.unwrap().times, Some(8));
}

#[test]
fn text_that_is_not_a_quota_is_ignored() {
    let mut machine = Machine::default();
    for content in ["max 100000\n", "max\n", "", "0 100000\n", "50000 0\n", "50000", "-1 100000"] {
        machine.set("/sys/fs/cgroup/cpu.max", content);
        assert!(Throttle::find(&machine).is_none(), "{content}");
    }
    // A quota whose stops are not counted.
    machine.set("/sys/fs/cgroup/cpu.max", "50000 100000");
    assert_eq!(Throttle::find(&machine).unwrap().times, None);
}

#[test]
fn groups_beyond_the_eighth_still_have_quotas() {
    let mut machine = Machine::default();
    let path = "/a".repeat(12);
    machine.set("/proc/self/cgroup", &format!("0::{path}\n"));
    for depth in 0..=12 {
        quota(&mut machine, &"/a".repeat(depth), &format!("{} 100000\n", (depth + 1) * 100_000), 1);
    }
    let throttle = Throttle::find(&machine).unwrap();
    assert_eq!((throttle.cpus, throttle.times), (1.0, Some(8)));
}

const CLOCKS: &str = "/sys/devices/system/cpu/intel_uncore_frequency";

/// Sets the package and the die of some CPUs.
fn die(machine: &mut Machine, cpus: &str, package: &str, die: &str) {
    for cpu in &CpuSet::parse_list(cpus.as_bytes()).unwrap() {
        let topology = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        machine.set(&format!("{topology}/physical_package_id"), package);
        machine.set(&format!("{topology}/die_id"), die);
        machine.set(&format!("{topology}/die_cpus_list"), cpus);
    }
}

fn clock(machine: &mut Machine, directory: &str, kilohertz: &str) {
    machine.set(&format!("{CLOCKS}/{directory}/current_freq_khz"), kilohertz);
}

/// Sets a domain of a package, with a clock, and the facts that newer kernels add.
fn domain(machine: &mut Machine, number: u32, package: &str, agents: &str, die: &str, kilohertz: &str) {
    let directory = format!("uncore{number:02}");
    for (name, content) in [("package_id", package), ("agent_types", agents), ("die_id", die)] {
        if !content.is_empty() {
            machine.set(&format!("{CLOCKS}/{directory}/{name}"), content);
        }
    }
    clock(machine, &directory, kilohertz);
}

/// Returns the clock of the uncore of a node with these CPUs.
fn uncore(machine: &Machine, cpus: &str) -> Option<f64> {
    Uncore::find(machine, &CpuSet::parse_list(cpus.as_bytes()).unwrap())?.gigahertz(machine)
}

#[test]
fn the_clock_of_the_uncore_is_the_mean_of_the_dies_of_a_node() {
    let mut machine = Machine::default();
    for (cpus, package, number) in [("0-3,16-19", "0", "0"), ("4-7", "0", "1"), ("8-15", "10", "0")] {
        die(&mut machine, cpus, package, number);
    }
    clock(&mut machine, "package_00_die_00", "2400000\n");
    clock(&mut machine, "package_00_die_01", "1800000\n");
    clock(&mut machine, "package_10_die_00", "800000\n");
    assert_eq!(uncore(&machine, "0-3,16-19"), Some(2.4));
    assert_eq!(uncore(&machine, "4-7"), Some(1.8));
    assert_eq!(uncore(&machine, "8-15"), Some(0.8));
    // A node of two dies has the mean of both, and one without CPUs no die.
    let both = CpuSet::parse_list(b"0-7,16-19").unwrap();
    let found = Uncore::find(&machine, &both).unwrap();
    assert_eq!(found.gigahertz(&machine), Some(2.1));
    assert!(Uncore::find(&machine, &CpuSet::EMPTY).is_none());
    // It is read each time; with one die alone there is no clock.
    clock(&mut machine, "package_00_die_01", "2600000\n");
    assert_eq!(found.gigahertz(&machine), Some(2.5));
    machine.0.remove(&format!("{CLOCKS}/package_00_die_01/current_freq_khz"));
    assert_eq!((found.gigahertz(&machine), uncore(&machine, "0-7,16-19")), (None, None));
    assert_eq!(uncore(&machine, "0-3"), Some(2.4));
}

#[test]
fn a_kernel_that_names_no_dies_has_one_in_each_package() {
    let mut machine = Machine::default();
    machine.set("/sys/devices/system/cpu/cpu4/topology/physical_package_id", "1\n");
    clock(&mut machine, "package_00_die_00", "2400000\n");
    clock(&mut machine, "package_01_die_00", "1800000\n");
    assert_eq!((uncore(&machine, "4-7"), uncore(&machine, "0-3")), (Some(1.8), None));
    // A list that leaves out its CPU names no die.
    machine.set("/sys/devices/system/cpu/cpu4/topology/die_cpus_list", "0-3\n");
    assert_eq!(uncore(&machine, "4-7"), Some(1.8));
}

#[test]
fn domains_that_serve_memory_have_the_clock_of_their_package() {
    let mut machine = Machine::default();
    for (cpus, package, number) in
        [("0-3", "0", "0"), ("4-7", "0", "1"), ("8-11", "1", "0"), ("12-15", "1", "1")]
    {
        die(&mut machine, cpus, package, number);
    }
    // Where there are domains, the packages have limits and no clock.
    for package in ["package_00_die_00", "package_01_die_00"] {
        machine.set(&format!("{CLOCKS}/{package}/max_freq_khz"), "2500000\n");
    }
    for (number, package, kilohertz) in
        [(0, "0", "2200000\n"), (1, "0", "1800000\n"), (2, "0", "800000\n"), (3, "1", "1200000\n")]
    {
        domain(&mut machine, number, package, "", "", kilohertz);
    }
    // An older kernel: all domains of the package, whatever they serve.
    assert_eq!((uncore(&machine, "0-3"), uncore(&machine, "8-15")), (Some(1.6), Some(1.2)));
    // A kernel that names the parts that domains serve, where it knows them.
    domain(&mut machine, 0, "0\n", "core cache memory\n", "", "2200000\n");
    domain(&mut machine, 1, "0\n", "\n", "", "1800000\n");
    domain(&mut machine, 2, "0\n", "io\n", "", "800000\n");
    assert_eq!(uncore(&machine, "0-7"), Some(2.0));
    // A kernel that names the dies of domains: a node of a part of the package has its own.
    domain(&mut machine, 0, "0\n", "core cache memory\n", "0\n", "2200000\n");
    domain(&mut machine, 1, "0\n", "core cache memory\n", "1\n", "1800000\n");
    assert_eq!((uncore(&machine, "0-3"), uncore(&machine, "4-7")), (Some(2.2), Some(1.8)));
    assert_eq!(uncore(&machine, "0-7"), Some(2.0));
    assert_eq!(uncore(&machine, "8-11"), Some(1.2));
}

#[test]
fn impossible_clocks_of_an_uncore_are_ignored() {
    let mut machine = Machine::default();
    die(&mut machine, "0-3", "0", "0");
    for content in [
        "",
        "\n",
        "0\n",
        "99999\n",
        "12700001\n",
        "-1\n",
        "2.4 GHz\n",
        "4294967296\n",
        "99999999999999999999\n",
    ] {
        clock(&mut machine, "package_00_die_00", content);
        assert_eq!(uncore(&machine, "0-3"), None, "{content}");
    }
    for (content, expected) in [("100000\n", 0.1), ("12700000", 12.7)] {
        clock(&mut machine, "package_00_die_00", content);
        assert_eq!(uncore(&machine, "0-3"), Some(expected));
    }
    // Domains of an unknown package leave the clock of the die; a domain without a possible clock leaves none.
    domain(&mut machine, 0, "7\n", "", "", "2000000\n");
    assert_eq!(uncore(&machine, "0-3"), Some(12.7));
    domain(&mut machine, 1, "0\n", "", "", "2000000\n");
    domain(&mut machine, 2, "0\n", "", "", "0\n");
    assert_eq!(uncore(&machine, "0-3"), None);
    // Packages that the kernel does not know, and too many dies.
    die(&mut machine, "0-3", "-1", "-1");
    assert_eq!(uncore(&machine, "0-3"), None);
    for cpu in 0..100 {
        die(&mut machine, &cpu.to_string(), &cpu.to_string(), "0");
        clock(&mut machine, &format!("package_{cpu:02}_die_00"), "1000000\n");
    }
    machine.0.retain(|path, _| !path.contains("/uncore"));
    assert_eq!(uncore(&machine, "0-99"), Some(1.0));
    for number in 0..200 {
        domain(&mut machine, number, "0\n", "", "", "3000000\n");
    }
    assert_eq!(uncore(&machine, "0-99"), Some(3.0));
}

#[test]
fn a_status_cut_off_in_a_list_yields_no_wrong_list() {
    let mut machine = Machine::default();
    // The buffer of 16 KiB ends after "0-3", which is a list too.
    let groups = "1".repeat((16 << 10) - "Groups:\t\nCpus_allowed_list:\t0-3".len());
    let status = format!("Groups:\t{groups}\nCpus_allowed_list:\t0-31\n");
    machine.set("/proc/self/status", &status);
    assert!(read(&machine).process.cpus_allowed.is_empty());
}

#[test]
fn without_any_file_nothing_is_known() {
    let mut host = host("two-sockets");
    host.read(&Machine::default(), CpuId(0));
    assert!(host.kernel.is_empty() && host.cpu_model.is_empty() && host.caches.as_slice().is_empty());
    assert_eq!(host.memory_total, None);
    assert!(host.process.cpus_allowed.is_empty() && !host.process.perfmon && !host.process.filtered);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn damaged_files_never_cause_a_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..80)), 1..8),
    ) {
        let mut machine = Machine::load("cpuset-part");
        let paths: Vec<_> = machine.0.keys().cloned().collect();
        for (index, content) in damage {
            machine.0.insert(index.get(&paths).clone(), content);
        }
        let host = read(&machine);
        prop_assert!(host.memory_limit.is_none_or(|limit| limit.headroom <= limit.limit));
    }

    #[test]
    fn a_damaged_clock_of_the_uncore_is_possible_or_ignored(
        damage in prop::collection::vec((any::<prop::sample::Index>(), "[0-9 \\-\n]{0,9}"), 1..4),
    ) {
        let mut machine = Machine::load("two-sockets");
        let paths: Vec<_> =
            machine.0.keys().filter(|path| path.contains("uncore") || path.contains("die")).cloned().collect();
        for (index, content) in damage {
            machine.set(index.get::<String>(&paths), &content);
        }
        let clock = uncore(&machine, "0-31,64-95");
        prop_assert!(clock.is_none_or(|clock| (0.1..=12.7).contains(&clock)));
    }
}

#[test]
fn ways_that_resctrl_allows() {
    let mut machine = Machine::load("two-sockets");
    assert_eq!(read(&machine).ways, None);
    machine.set("/sys/devices/system/cpu/cpu0/cache/index3/id", "0\n");
    machine.set("/sys/fs/resctrl/info/L3/cbm_mask", "7fff\n");
    machine.set("/sys/fs/resctrl/schemata", "    MB:0=100;1=100\n    L3:0=00ff;1=7fff\n");
    let ways = read(&machine).ways.unwrap();
    assert_eq!((ways.allowed, ways.code, ways.all), (0xff, None, 0x7fff));
}

const CPU0: &str = "/sys/devices/system/cpu/cpu0";

/// Adds an idle state of CPU 0.
fn idle_state(machine: &mut Machine, state: u32, name: &str, disable: &str) {
    for (file, content) in [("name", name), ("disable", disable)] {
        machine.set(&format!("{CPU0}/cpuidle/state{state}/{file}"), content);
    }
}

#[test]
fn power_settings_are_those_of_firmware_and_cpu() {
    let mut machine = Machine::default();
    assert_eq!(read(&machine).power, Power::default());
    machine.set("/sys/firmware/acpi/platform_profile", "balanced\n");
    machine.set(&format!("{CPU0}/cpufreq/energy_performance_preference"), "balance_performance\n");
    idle_state(&mut machine, 0, "POLL\n", "0\n");
    idle_state(&mut machine, 1, "C1E\n", "0\n");
    idle_state(&mut machine, 2, "C6\n", "1\n");
    let Power { profile, preference, deepest_idle } = read(&machine).power;
    assert_eq!(
        [profile.as_str(), preference.as_str(), deepest_idle.as_str()],
        ["balanced", "balance_performance", "C1E"]
    );
    idle_state(&mut machine, 2, "C6\n", "0\n");
    assert_eq!(read(&machine).power.deepest_idle, "C6");
}

#[test]
fn an_idle_state_that_may_be_disabled_leaves_the_deepest_unknown() {
    let mut machine = Machine::default();
    idle_state(&mut machine, 0, "POLL", "0");
    for disable in ["", "x", "-1"] {
        idle_state(&mut machine, 1, "C6", disable);
        assert_eq!(read(&machine).power.deepest_idle, "", "{disable}");
    }
    // All states are disabled.
    idle_state(&mut machine, 0, "POLL", "1");
    idle_state(&mut machine, 1, "C6", "1");
    assert_eq!(read(&machine).power.deepest_idle, "");
}

#[test]
fn the_heat_and_the_lost_memory_are_unknown_without_files() {
    let mut machine = Machine::default();
    let facts = |machine: &Machine| {
        let host = read(machine);
        (host.dimm_heat, host.memory_given_up)
    };
    assert_eq!(facts(&machine), (None, None));
    machine.set("/proc/meminfo", "MemTotal: 9 kB\nHardwareCorrupted:    12 kB\n");
    machine.set("/sys/class/hwmon/hwmon3/name", "spd5118\n");
    machine.set("/sys/class/hwmon/hwmon3/temp1_input", "38500\n");
    machine.set("/sys/class/hwmon/hwmon7/name", "coretemp\n");
    machine.set("/sys/class/hwmon/hwmon7/temp1_input", "70000\n");
    assert_eq!(facts(&machine), (Some(38_500), Some(Bytes(12 << 10))));
    machine.set("/proc/meminfo", "MemTotal: 9 kB\nHardwareCorrupted:    some kB\n");
    machine.set("/sys/class/hwmon/hwmon3/temp1_input", "2147483648\n");
    assert_eq!(facts(&machine), (None, None));
}

#[test]
fn the_tightest_limit_of_mappings_is_found() {
    let mut machine = Machine::load("one-node");
    let left = |machine: &Machine| read(machine).allowance.map(|found| (found.by, found.left.0 >> 20));
    assert_eq!(left(&machine), None);
    machine.set("/proc/meminfo", "MemTotal: 4194304 kB\nCommitLimit: 2097152 kB\nCommitted_AS: 1048576 kB\n");
    machine.set("/proc/sys/vm/overcommit_memory", "0\n");
    assert_eq!(left(&machine), None);
    machine.set("/proc/sys/vm/overcommit_memory", "2\n");
    assert_eq!(left(&machine), Some((Bound::Commit, 1024)));
    machine.set("/proc/self/status", "Name:\tx\nVmSize:\t   20480 kB\nVmData:\t   10240 kB\n");
    let limits = |data: &str, space: &str| {
        format!(
            "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max data size             {data:<20} unlimited            bytes     \n\
             Max address space         {space:<20} unlimited            bytes     \n"
        )
    };
    machine.set("/proc/self/limits", &limits("unlimited", "440401920"));
    assert_eq!(left(&machine), Some((Bound::AddressSpace, 400)));
    machine.set("/proc/self/limits", &limits("220200960", "440401920"));
    assert_eq!(left(&machine), Some((Bound::Data, 200)));
    // More may be used than a limit that was set later.
    machine.set("/proc/self/limits", &limits("4096", "unlimited"));
    assert_eq!(left(&machine), Some((Bound::Data, 0)));
}
