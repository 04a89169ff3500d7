//! Forbidden system calls, one at a time and as containers forbid them.

use super::body::{REPORT, all, end, experiments, held, judge, judge_document, smallest, status, tasks};
use super::results::{is_proven, named, parts};
use latency_tests::calls::{CALLS, IN_THEIR_PLACE, NEEDED, said_for};
use latency_tests::confine::CONTAINER;
use latency_tests::directory::Directory;
use latency_tests::document::{at, warnings};
use latency_tests::enclose::{Enclose, Fate};
use latency_tests::everywhere::everywhere;
use latency_tests::lanes::of_everything;
use latency_tests::run::command;
use libc::{c_int, c_long};
use std::os::unix::process::ExitStatusExt;

/// Calls that are missing on a file system without unnamed files, on a host too busy for a pause between
/// rounds, or on one with one CPU; and the call that starts the process.
const NOT_EVERYWHERE: [&str; 7] = ["access", "clone", "execve", "exit", "futex", "linkat", "nanosleep"];

/// The kernel's answers for a forbidden call, a missing one, and one without a certain feature.
const REFUSALS: [(&str, c_int); 3] =
    [("EPERM", libc::EPERM), ("ENOSYS", libc::ENOSYS), ("EINVAL", libc::EINVAL)];

/// Returns the runs that together make every call: the tasks, and one with counters that sleeps and replaces
/// a file.
fn runs() -> Vec<Vec<&'static str>> {
    let mut runs = tasks();
    runs.push(vec![
        "matrix",
        "--size=16K",
        "--json",
        "--counters",
        "--trials=8",
        "--iters=200",
        "--spread=0.2",
        "--time-limit=0.3",
        "--output=result.json",
    ]);
    runs
}

/// Returns true if the run writes the file `result.json`.
fn writes(run: &[&str]) -> bool {
    run.contains(&"--output=result.json")
}

fn made(calls: &[(&'static str, c_long)]) -> Vec<(c_long, Fate)> {
    calls.iter().map(|&(_, number)| (number, Fate::Made)).collect()
}

/// Filters of Android and of systemd answer with a signal in place of an error number.
#[test]
fn a_call_that_is_answered_with_a_signal_is_one_that_fails() {
    let runs: [&[&str]; 3] = [
        &["system"],
        &["matrix", "--size=16K", "--dry-run"],
        &["matrix", "--size=16K", "--iters=200", "--trials=2", "--pages=base", "--counters", "--json"],
    ];
    let all = [&CALLS[..], &IN_THEIR_PLACE].concat();
    let cases: Vec<_> = all
        .into_iter()
        .filter(|(name, _)| !NEEDED.contains(name))
        .flat_map(|call| runs.iter().map(move |run| (call, *run)))
        .collect();
    everywhere(&cases, |((name, number), run)| {
        let mut command = command(run);
        let found = end(command.fated(&[(*number, Fate::Trapped)], Fate::Made))?;
        let wrong = |why: &str| Err(format!("{name}: {why}: {found}"));
        match found.status.code() {
            None => wrong("it died"),
            Some(0) if found.stdout.is_empty() => wrong("neither a result nor an error"),
            Some(0) => Ok(()),
            Some(2..=4) if found.stderr.contains(name) || found.stderr.contains(said_for(name)) => Ok(()),
            Some(_) => wrong("the error does not name the call"),
        }
    });
}

/// Threads end by a call of their own, and the CPUs of the process are listed in /proc as well.
#[test]
fn a_run_with_threads_needs_neither_the_end_of_a_thread_nor_the_call_for_its_cpus() {
    let places = [("exit", libc::SYS_exit), ("sched_getaffinity", libc::SYS_sched_getaffinity)];
    let runs = experiments().into_iter().filter(|run| ["bandwidth", "cores", "loaded"].contains(&run[0]));
    let cases: Vec<_> = runs.flat_map(|run| places.map(|place| (run.clone(), place))).collect();
    everywhere(&cases, |(run, (name, number))| {
        let found = end(command(run).fated(&[(*number, Fate::Trapped)], Fate::Made))?;
        match found.status.code() {
            Some(0) => judge_document(&found.stdout, 0).map_err(|why| format!("{name}: {why}: {found}")),
            _ => Err(format!("{name}: {found}")),
        }
    });
}

/// Calls without which no other can be tried: those of the entry of the program, of new processes and of the text.
const NEEDED_TO_PROBE: [&str; 6] = ["clone", "execve", "exit_group", "mmap", "rt_sigaction", "write"];

/// A filter that kills leaves no chance to say at which call.
#[test]
fn a_call_that_ends_the_process_is_named_by_the_probe() {
    let all = [&CALLS[..], &IN_THEIR_PLACE].concat();
    let probe = ["system", "--probe"];
    let found = end(&mut command(&probe)).expect("a run");
    let mut names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    let lines = found.expect_status(0).stdout.lines();
    let mut tried: Vec<&str> = lines.filter_map(|line| line.strip_suffix(": allowed")).collect();
    tried.sort_unstable();
    assert_eq!(tried, names, "{found}");
    let cases: Vec<_> = all.into_iter().filter(|(name, _)| !NEEDED_TO_PROBE.contains(name)).collect();
    everywhere(&cases, |(name, number)| {
        let found = end(command(&probe).fated(&[(*number, Fate::Ends)], Fate::Made))?;
        let ends = format!("{name}: ends the process (SIGSYS)\n");
        let alone = found.stdout.matches("ends the process (").count() == 1;
        match found.status.code() == Some(2) && alone && found.stdout.contains(&ends) {
            true => Ok(()),
            false => Err(format!("{name}: {found}")),
        }
    });
    let found = end(command(&probe).fated(&[(libc::SYS_mbind, Fate::Fails(libc::EPERM))], Fate::Made));
    let found = found.expect("a run");
    assert!(
        found.expect_status(0).stdout.contains("mbind: refused: Operation not permitted (EPERM)"),
        "{found}"
    );
}

/// Calls of a measurement that other answers do not need.
#[test]
fn a_call_that_the_answer_does_not_need_is_not_made() {
    const OF_PLACEMENT: [&str; 9] = [
        "get_mempolicy",
        "getcpu",
        "mbind",
        "move_pages",
        "perf_event_open",
        "prctl",
        "sched_getaffinity",
        "sched_setaffinity",
        "set_mempolicy",
    ];
    let saved = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/saved/curve.json");
    let nothing: &[&str] = &[];
    for (run, more) in [
        (&["--help"][..], nothing),
        (&["show", saved], nothing),
        (&["fit", saved, "--json"], nothing),
        (&["compare", saved, saved], nothing),
        (&["reference", "all"], nothing),
        (&["matrix", "--size=16K", "--dry-run"], &["getrusage", "nanosleep", "futex", "clone"]),
        (&["matrix", "--size=16K", "--iters=200", "--trials=2"], &["perf_event_open", "futex", "clone"]),
    ] {
        let unneeded = if more.is_empty() { &OF_PLACEMENT[..] } else { more };
        let is_unneeded = |(name, _): &&(&str, c_long)| unneeded.contains(name);
        let fates: Vec<_> =
            CALLS.iter().filter(is_unneeded).map(|&(_, number)| (number, Fate::Ends)).collect();
        let found = end(command(run).fated(&fates, Fate::Made)).expect("a run");
        found.expect_status(0);
    }
}

#[test]
fn no_other_call_is_made() {
    let known = made(&[&CALLS[..], &IN_THEIR_PLACE].concat());
    let directory = older("calls-known");
    everywhere(&runs(), |run| {
        let mut command = directory.command(run);
        let found = end(command.fated(&known, Fate::Ends))?;
        match found.status.success() {
            true => Ok(()),
            false => Err(format!("a call that tests/src/calls.rs does not list? {found}")),
        }
    });
}

#[test]
fn each_call_is_made() {
    let directory = older("calls-made");
    // The last run makes most of them.
    let runs: Vec<_> = runs().into_iter().rev().collect();
    everywhere(&CALLS, |&(name, number)| {
        let ends = |run: &Vec<&str>| {
            let mut command = directory.command(run);
            let found = end(command.fated(&[(number, Fate::Ends)], Fate::Made)).expect("a run");
            found.status.signal() == Some(libc::SIGSYS)
        };
        match NOT_EVERYWHERE.contains(&name) || runs.iter().any(ends) {
            true => Ok(()),
            false => Err(format!("{name} is listed, and no run makes it")),
        }
    });
}

/// Makes a directory with an older result.
fn older(name: &str) -> Directory {
    let directory = Directory::new(name);
    std::fs::write(directory.path().join("result.json"), "{}").expect("a file");
    directory
}

#[test]
fn each_call_may_be_forbidden_in_each_experiment() {
    let part = of_everything(33, 11);
    let mut places = Vec::new();
    for (index, run) in runs().into_iter().enumerate() {
        // The forbidden exit has a separate test.
        for (step, &(name, call)) in CALLS.iter().filter(|(name, _)| !name.starts_with("ex")).enumerate() {
            for (turn, refusal) in REFUSALS.into_iter().enumerate() {
                if all() || (index + step + turn) % part == 0 {
                    places.push((run.clone(), name, call, refusal));
                }
            }
        }
    }
    everywhere(&places, |(run, name, call, (errno, number))| {
        without(run, &[*call], *number).map_err(|reason| format!("{name} {errno}: {reason}"))
    });
}

/// Returns true if a run with a refused call may end with this status: a result, an error of placement, of
/// time, of the output, or of its arguments if it cannot read the files that they name.
fn is_listed(run: &[&str], status: i32) -> bool {
    let reads = ["fit", "compare", "fleet"].contains(&run[0]) || run[0] == "report";
    matches!(status, 0 | 2 | 3 | 4) || (status == 1 && reads)
}

/// Checks a run to which these calls are refused, and which never switches the machine off.
fn without(run: &[&str], calls: &[c_long], errno: c_int) -> Result<(), String> {
    let mut fates = vec![(libc::SYS_reboot, Fate::Ends)];
    fates.extend(calls.iter().map(|&call| (call, Fate::Fails(errno))));
    let unheard = calls.contains(&libc::SYS_write);
    if !writes(run) {
        let mut command = command(run);
        let found = end(command.fated(&fates, Fate::Made))?;
        let status = status(&found)?;
        return match unheard {
            _ if !is_listed(run, status) => Err(format!("status {status}: {found}")),
            true => Ok(()),
            false => judge(&found, Some(&found.stdout)),
        };
    }
    let name = format!("calls-{}-{errno}", calls[0]);
    let directory = older(&name);
    let found = end(directory.command(run).fated(&fates, Fate::Made))?;
    let status = match unheard {
        true => status(&found)?,
        false => judge(&found, None).and_then(|()| self::status(&found))?,
    };
    let written = std::fs::read_to_string(directory.path().join("result.json"));
    let written = written.map_err(|error| format!("the result is gone: {error}; {found}"))?;
    match status {
        _ if !is_listed(run, status) => return Err(format!("status {status}: {found}")),
        0 => judge_document(&written, status).map_err(|reason| format!("{reason}; {found}"))?,
        _ if written == "{}" => {}
        _ => return Err(format!("the older result is not as it was: {found}")),
    }
    match directory.names()[..] == ["result.json"] {
        true => Ok(()),
        false => Err(format!("{:?} are left: {found}", directory.names())),
    }
}

/// Docker's default profile refuses some of the tool's calls, and every unknown call, with EPERM.
#[test]
fn in_docker() {
    let fates: Vec<_> = made(&[&CALLS[..], &IN_THEIR_PLACE].concat())
        .into_iter()
        .filter(|(call, _)| !CONTAINER.contains(call))
        .collect();
    in_container(&fates, libc::EPERM, false);
}

/// Podman's profile allows memory policies, refuses two calls with EPERM, and every unknown call with ENOSYS.
#[test]
fn in_podman() {
    let refused = [libc::SYS_move_pages, libc::SYS_perf_event_open];
    let fates: Vec<_> = made(&[&CALLS[..], &IN_THEIR_PLACE].concat())
        .into_iter()
        .map(|(call, fate)| (call, if refused.contains(&call) { Fate::Fails(libc::EPERM) } else { fate }))
        .collect();
    in_container(&fates, libc::ENOSYS, true);
}

fn in_container(fates: &[(c_long, Fate)], unknown: c_int, bound: bool) {
    let mut tasks = experiments();
    tasks.push(REPORT.to_vec());
    everywhere(&tasks, |task| {
        let found = held(task, |command| {
            command.fated(fates, Fate::Fails(unknown));
        })?;
        let document = found.expect_json(0);
        let proven = parts(&document).into_iter().all(is_proven);
        let as_allowed = named(&document, "means").iter().all(|means| (**means == "bind") == bound);
        let unsaid = |part: &&serde_json::Value| !warnings(part).contains(&"placement-unverified");
        match !(proven && as_allowed && parts(&document).iter().all(unsaid)) {
            true => Err(format!("not proven, or not as the profile allows: {found}")),
            false => Ok(()),
        }
    });
}

/// The report names the parts that cannot be measured, and contains the others.
#[test]
fn a_report_without_threads() {
    let places =
        [(vec![libc::SYS_clone], libc::EPERM), (vec![libc::SYS_clone, libc::SYS_move_pages], libc::ENOSYS)];
    everywhere(&places, |(calls, errno)| {
        let fates: Vec<_> = calls.iter().map(|&call| (call, Fate::Fails(*errno))).collect();
        let found = held(&REPORT, |command| {
            command.fated(&fates, Fate::Made);
        })?;
        let document = found.expect_json(0);
        let missing = at(&document, "/not_measured").as_array().map(Vec::len);
        let measured = at(&document, "/sections").as_array().map(Vec::len);
        match missing.zip(measured) {
            Some((1.., 6..)) => Ok(()),
            _ => Err(format!("{missing:?} are missing, {measured:?} are there: {found}")),
        }
    });
}

/// If every request to the system fails, there is an error and no result.
#[test]
fn when_every_request_fails_there_is_an_error() {
    let fates: Vec<_> = ["execve", "exit_group", "mmap", "munmap", "write"]
        .into_iter()
        .filter_map(|name| CALLS.iter().find(|call| call.0 == name))
        .map(|&(_, number)| (number, Fate::Made))
        .collect();
    for (name, errno) in REFUSALS {
        let found = held(&smallest(&[]), |command| {
            command.fated(&fates, Fate::Fails(errno));
        });
        let found = found.unwrap_or_else(|reason| panic!("{name}: {reason}"));
        assert!(matches!(found.status.code(), Some(2 | 3)), "{name}: {found}");
        assert_eq!(found.stdout, "");
    }
}
