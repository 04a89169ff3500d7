//! File systems that are missing, empty or read-only.

use super::body::{end, everything_on, held, judge, smallest, tasks};
use super::results::{is_measured_with, is_proven, parts};
use latency_tests::confine::{Confine, allowed_cpus, is_root};
use latency_tests::directory::Directory;
use latency_tests::enclose::{Enclose, may_mount};
use latency_tests::everywhere::everywhere;
use latency_tests::skip::skip;
use std::ffi::CStr;

fn mounts_or_skip(test: &str) -> bool {
    let may = is_root() && may_mount();
    if !may {
        skip(test, "only root with CAP_SYS_ADMIN may cover file systems");
    }
    may
}

/// Runs every experiment with these directories empty: it measures, and warns about the missing information.
fn without(directories: &[&CStr], codes: &[&str]) {
    let last = *allowed_cpus().last().expect("a CPU");
    everywhere(&everything_on(last), |(task, cpu)| {
        let found = held(task, |command| {
            cpu.map(|cpu| command.on_cpu(cpu));
            // Otherwise a busy host may leave a load no CPU time, and then nothing is measured.
            command.with_priority();
            command.covered(directories);
        })?;
        match is_measured_with(&found.expect_json(0), codes) {
            true => Ok(()),
            false => Err(format!("{codes:?} not said, or nothing measured: {found}")),
        }
    });
    let found = held(&["system", "--json"], |command| {
        command.covered(directories);
    });
    found.unwrap_or_else(|reason| panic!("{reason}")).expect_status(0);
}

#[test]
fn without_proc() {
    if mounts_or_skip("hostile::files::without_proc") {
        without(&[c"/proc"], &["no-proc"]);
    }
}

#[test]
fn without_sys() {
    if mounts_or_skip("hostile::files::without_sys") {
        without(&[c"/sys"], &["no-sys"]);
    }
}

#[test]
fn without_proc_and_sys() {
    if mounts_or_skip("hostile::files::without_proc_and_sys") {
        without(&[c"/proc", c"/sys"], &["no-proc", "no-sys"]);
    }
}

#[test]
fn without_a_writable_file_system() {
    if !mounts_or_skip("hostile::files::without_a_writable_file_system") {
        return;
    }
    let tasks = tasks();
    everywhere(&tasks, |task| {
        let found = held(task, |command| {
            // Otherwise the budget may be over on a busy host before anything is measured.
            command.with_priority();
            command.read_only();
        })?;
        found.status.success().then_some(()).ok_or_else(|| format!("{found}"))
    });
    let directory = Directory::new("read-only");
    let path = directory.path().join("result.json");
    let output = format!("--output={}", path.display());
    let begun = end(directory.command(&smallest(&[&output])).read_only());
    let found = begun.unwrap_or_else(|reason| panic!("{reason}"));
    assert_eq!(found.stdout, "");
    found.expect_status(4).expect_error("Read-only file system (EROFS)");
    assert!(directory.names().is_empty(), "{:?}", directory.names());
}

#[test]
fn an_ordinary_user() {
    if !is_root() {
        return skip("hostile::files::an_ordinary_user", "only root may become another user");
    }
    let directory = Directory::new("hostile-nobody");
    // The saved results of the tree may not be readable for all users.
    let last = *allowed_cpus().last().expect("a CPU");
    everywhere(&everything_on(last), |(task, cpu)| {
        let mut command = directory.command(task);
        cpu.map(|cpu| command.on_cpu(cpu));
        let found = end(command.with_priority().as_nobody())?;
        judge(&found, Some(&found.stdout))?;
        match parts(&found.expect_json(0)).into_iter().all(is_proven) {
            true => Ok(()),
            false => Err(format!("not proven: {found}")),
        }
    });
}
