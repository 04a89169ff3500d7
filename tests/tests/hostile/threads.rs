//! Threads: forbidden, limited, on one CPU, and stopped by a quota of CPU time.

use super::body::{held, status};
use latency_tests::confine::{Confine, allowed_cpus, is_root};
use latency_tests::directory::Directory;
use latency_tests::document::{array, number, text, warnings};
use latency_tests::group::{Group, Limit};
use latency_tests::run::{Run, finish};
use latency_tests::skip::skip;
use serde_json::Value;
use std::process::Command;

/// An experiment with every number of cores, in caches.
const SCALING: [&str; 5] = ["bandwidth", "--view=scaling", "--size=64K", "--budget=3", "--json"];
/// An experiment with two rates of traffic beside a chain, with time for several windows of each.
const LOADED: [&str; 6] =
    ["loaded", "--size=64K", "--traffic=read", "--rates=0.1,max", "--budget=6", "--json"];
/// An experiment with two cores, which needs a second.
const CORES: [&str; 4] = ["cores", "--lines=2", "--budget=3", "--json"];
/// The number of a user without any other process.
const NOBODY_ELSE: u32 = 64_913;

/// Returns two CPUs; with one CPU there is only one thread, and the test is skipped.
fn two_cpus_or_skip(test: &str) -> Option<[usize; 2]> {
    let &[first, second, ..] = &allowed_cpus()[..] else {
        skip(test, "it takes two CPUs");
        return None;
    };
    Some([first, second])
}

/// Runs the command line with more arguments, confined, and checks the rules of every place.
fn measured(more: &[&str], confine: impl FnOnce(&mut Command)) -> Run {
    held(&[&SCALING, more].concat(), confine).unwrap_or_else(|reason| panic!("{reason}"))
}

/// Runs a chain beside generators, confined, and checks it.
fn loaded(confine: impl FnOnce(&mut Command)) -> Run {
    held(&LOADED, confine).unwrap_or_else(|reason| panic!("{reason}"))
}

/// Runs two cores, confined, and checks them.
fn cores(confine: impl FnOnce(&mut Command)) -> Run {
    held(&CORES, confine).unwrap_or_else(|reason| panic!("{reason}"))
}

/// Returns the numbers of generators of a result.
fn generators(document: &Value) -> Vec<u64> {
    array(document, "/rows").iter().filter_map(|row| row.get("cores")?.as_u64()).collect()
}

/// Asserts that one generator has a rate, that others have none for lack of threads, and that this is
/// reported.
fn assert_alone(found: &Run) {
    let document = found.expect_json(0);
    assert_eq!(generators(&document), [1], "{found}");
    assert!(warnings(&document).contains(&"threads-refused"), "{found}");
}

#[test]
fn without_threads_one_cpu_is_measured() {
    let Some([first, second]) = two_cpus_or_skip("threads::without_threads") else { return };
    for errno in [libc::EPERM, libc::ENOSYS] {
        let cpus = format!("--load-cpus={first},{second}");
        let found = measured(&[&cpus], |command| {
            command.denied(&[libc::SYS_clone], errno);
        });
        found.expect_status(2).expect_error("allow clone in the container's seccomp profile");
        let cpu = format!("--load-cpus={first}");
        let found = measured(&[&cpu], |command| {
            command.denied(&[libc::SYS_clone], errno);
        });
        assert_eq!(generators(&found.expect_json(0)), [1], "{found}");
        let found = loaded(|command| {
            command.denied(&[libc::SYS_clone], errno);
        });
        found.expect_status(2).expect_error("allow clone in the container's seccomp profile");
        let found = cores(|command| {
            command.denied(&[libc::SYS_clone], errno);
        });
        found.expect_status(2).expect_error("allow clone in the container's seccomp profile");
    }
}

#[test]
fn one_core_is_measured_if_a_group_may_have_one_process() {
    const TEST: &str = "threads::one_core_is_measured_if_a_group_may_have_one_process";
    let Some(group) = Group::new("processes", Limit::Processes(1)) else {
        return skip(TEST, "it takes a control group, which root may make where they are mounted");
    };
    if two_cpus_or_skip(TEST).is_none() {
        return;
    }
    assert_alone(&measured(&[], |command| {
        group.hold(command);
    }));
    for run in [LOADED.as_slice(), &CORES] {
        let found = held(run, |command| {
            group.hold(command);
        });
        found.unwrap_or_else(|reason| panic!("{reason}")).expect_status(2).expect_error("0 of ");
    }
}

#[test]
fn one_core_is_measured_if_a_user_may_have_one_process() {
    const TEST: &str = "threads::one_core_is_measured_if_a_user_may_have_one_process";
    if !is_root() || two_cpus_or_skip(TEST).is_none() {
        return skip(TEST, "only root may change its user, and it takes two CPUs");
    }
    let directory = Directory::new("one-process");
    let mut command = directory.command(&SCALING);
    command.limited(libc::RLIMIT_NPROC as i32, 1).as_user(NOBODY_ELSE);
    assert_alone(&finish(&mut command));
    for run in [LOADED.as_slice(), &CORES] {
        let mut command = directory.command(run);
        command.limited(libc::RLIMIT_NPROC as i32, 1).as_user(NOBODY_ELSE);
        finish(&mut command).expect_status(2).expect_error("0 of ");
    }
}

#[test]
fn on_one_cpu_one_core_is_measured() {
    let Some([first, second]) = two_cpus_or_skip("threads::on_one_cpu") else { return };
    let found = measured(&[], |command| {
        command.on_cpu(second);
    });
    assert_eq!(generators(&found.expect_json(0)), [1], "{found}");
    // CPUs that are named are tried: the mask alone does not forbid them, and then one more generator runs.
    let cpus = format!("--load-cpus={first},{second}");
    let found = measured(&[&cpus], |command| {
        command.on_cpu(second);
    });
    assert_eq!(generators(&found.expect_json(0)), [1, 2], "{found}");
    let found = measured(&[&cpus], |command| {
        command.on_cpu(second).denied(&[libc::SYS_sched_setaffinity], libc::EINVAL);
    });
    found.expect_status(2).expect_error(&format!("CPU {first} is not allowed"));
    let found = loaded(|command| {
        command.on_cpu(second);
    });
    found.expect_status(2).expect_error("loaded needs a second CPU");
    let found = cores(|command| {
        command.on_cpu(second);
    });
    found.expect_status(2).expect_error("cores needs a second CPU");
}

#[test]
fn an_exhausted_cpu_time_quota_is_reported() {
    let Some(group) = Group::new("quota", Limit::CpuTime(50)) else {
        let why = "it takes a control group, which root may make where they are mounted";
        return skip("threads::an_exhausted_cpu_time_quota", why);
    };
    let found = measured(&[], |command| {
        group.hold(command);
    });
    assert!(warnings(&found.expect_json(0)).contains(&"throttled"), "{found}");
    if allowed_cpus().len() > 1 {
        let found = loaded(|command| {
            group.hold(command);
        });
        let document = found.expect_json(0);
        assert!(warnings(&document).contains(&"throttled"), "{found}");
        // A window that begins as the quota is renewed has enough of it, so that none need be throttled. A quota that ends
        // before the load begins leaves none, and then the reason names no other program.
        for row in array(&document, "/rows") {
            match text(row, "/not_measured") {
                "" => assert!(number(row, "/throttled") <= number(row, "/trials"), "{row:#}"),
                reason => assert_eq!(reason, "the load had no CPU time"),
            }
        }
    }
    let found = measured(&["--strict"], |command| {
        group.hold(command);
    });
    assert_eq!(status(&found), Ok(3), "{found}");
}
