//! Limits of resources, from zero upwards.

use super::body::{REPORT, SHORT_SPANS, all, end, experiments, held, judge, smallest, tasks};
use latency_tests::confine::Confine;
use latency_tests::document::at;
use latency_tests::enclose::Enclose;
use latency_tests::everywhere::everywhere;
use latency_tests::run::command;
use libc::c_int;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Each limit with its name in `ulimit` and its values. The smallest values of address space, data and stack
/// are those with which the kernel starts the executable without an environment: below, it ends the process
/// before the first instruction. (The stack needs 12 KiB beside arguments and environment, a random part
/// included.)
const LIMITS: [(&str, c_int, &[u64]); 7] = [
    ("-v", libc::RLIMIT_AS as c_int, &[1472 * KIB, 2 * MIB, 3 * MIB, 4 * MIB, 8 * MIB, 32 * MIB]),
    ("-d", libc::RLIMIT_DATA as c_int, &[8 * KIB, 64 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 32 * MIB]),
    ("-s", libc::RLIMIT_STACK as c_int, &[12 * KIB, 16 * KIB, 64 * KIB, MIB]),
    ("-n", libc::RLIMIT_NOFILE as c_int, &[0, 1, 2, 3, 4, 5, 8]),
    ("-f", libc::RLIMIT_FSIZE as c_int, &[0, 1, 4 * KIB]),
    ("-l", libc::RLIMIT_MEMLOCK as c_int, &[0, 4 * KIB, MIB]),
    ("-u", libc::RLIMIT_NPROC as c_int, &[0, 1, 2]),
];

#[test]
fn each_limit_in_each_experiment() {
    let mut places = Vec::new();
    for (index, mut task) in tasks().into_iter().enumerate() {
        // Only a span of the default size needs more addresses than most limits leave.
        task.retain(|word| *word != SHORT_SPANS);
        for (turn, &(name, resource, values)) in LIMITS.iter().enumerate() {
            for (step, &value) in values.iter().enumerate() {
                if all() || (index + turn + step) % 7 == 0 {
                    places.push((task.clone(), name, resource, value));
                }
            }
        }
    }
    everywhere(&places, |(task, name, resource, value)| {
        let found = held(task, |command| {
            command.env_clear().limited(*resource, *value);
        });
        let found = found.map_err(|reason| format!("ulimit {name} at {value}: {reason}"))?;
        // A limit on anything but memory and files changes nothing.
        let allowed: &[i32] = if ["-s", "-f", "-l", "-u"].contains(name) { &[0] } else { &[0, 1, 2, 3, 4] };
        match found.status.code().is_some_and(|code| allowed.contains(&code)) {
            true => Ok(()),
            false => Err(format!("ulimit {name} at {value}: {found}")),
        }
    });
}

/// Without room for any point there is an error and no document; with room for some, a document and exit 0.
#[test]
fn a_result_without_a_value_is_an_error() {
    let places: Vec<_> =
        experiments().into_iter().flat_map(|task| (6..12).map(move |size| (task.clone(), size))).collect();
    everywhere(&places, |(task, size)| {
        let found = held(task, |command| {
            command.env_clear().limited(libc::RLIMIT_AS as c_int, size * MIB);
        })?;
        match (found.status.code(), found.stdout.is_empty()) {
            (Some(0), false) | (Some(2), true) => Ok(()),
            _ => Err(format!("{size} MiB: {found}")),
        }
    });
}

#[test]
fn a_report_in_little_memory() {
    everywhere(&[1472 * KIB, 3 * MIB, 8 * MIB], |&value| {
        let found = held(&REPORT, |command| {
            command.env_clear().limited(libc::RLIMIT_AS as c_int, value);
        });
        found.map(drop).map_err(|reason| format!("address space of {value}: {reason}"))
    });
}

/// The kernel sends SIGXCPU at the soft limit and SIGKILL at the hard one. The test has both at two seconds, and only a
/// soft one.
#[test]
fn the_result_is_partial_at_the_cpu_time_limit() {
    let endless = ["--json", "--trials=1000000", "--time-limit=86400"];
    let places = [
        (["matrix", "--size=1M"], 2, 2),
        (["curve", "--max-size=2M"], 1, libc::RLIM_INFINITY),
        (["distribution", "--size=1M"], 1, 30),
    ];
    everywhere(&places, |&(experiment, soft, hard)| {
        let mut command = command(&[&experiment[..], &endless].concat());
        let found = end(command.limited_softly(libc::RLIMIT_CPU as c_int, soft, hard))?;
        judge(&found, Some(&found.stdout))?;
        let interrupted = found.status.code() == Some(130);
        interrupted.then_some(()).ok_or_else(|| format!("CPU time of {soft} s, {hard} s: {found}"))
    });
}

/// A run that needs less than its CPU time does not notice the limit: it measures the same points in as many
/// trials, and its document does not mention an early end.
#[test]
fn sufficient_cpu_time_changes_nothing() {
    let run = |seconds: Option<u64>| {
        let found = held(&smallest(&[]), |command| {
            if let Some(seconds) = seconds {
                command.limited(libc::RLIMIT_CPU as c_int, seconds);
            }
        });
        let document = found.unwrap_or_else(|reason| panic!("{seconds:?} s: {reason}")).expect_json(0);
        assert_eq!(at(&document, "/partial"), false, "{seconds:?} s: {document:#}");
        (
            at(&document, "/rows/0/trials").clone(),
            document.as_object().map(|members| members.keys().cloned().collect::<Vec<_>>()),
        )
    };
    let free = run(None);
    for seconds in [1, 2, 1000] {
        assert_eq!(run(Some(seconds)), free, "{seconds} s");
    }
}
