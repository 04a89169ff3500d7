//! File systems that are not there, that show nothing, and that take nothing.

use super::body::{end, held, judge, smallest, tasks, EXPERIMENTS};
use latency_tests::confine::{is_root, Confine};
use latency_tests::directory::Directory;
use latency_tests::document::{array, at, text, warnings};
use latency_tests::enclose::{may_mount, Enclose};
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

/// Every experiment with these directories empty: it measures, and says what it misses.
fn without(directories: &[&CStr], codes: &[&str]) {
    everywhere(&tasks()[..EXPERIMENTS.len()], |task| {
        let found = held(task, |command| {
            command.covered(directories);
        })?;
        let document = found.expect_json(0);
        let unsaid = codes.iter().find(|code| !warnings(&document).contains(code));
        match (unsaid, array(&document, "/points").is_empty()) {
            (None, false) => Ok(()),
            _ => Err(format!("{unsaid:?} not said, or nothing measured: {found}")),
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
fn where_nothing_can_be_written() {
    if !mounts_or_skip("hostile::files::where_nothing_can_be_written") {
        return;
    }
    let tasks = tasks();
    everywhere(&tasks, |task| {
        let found = held(task, |command| {
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
    // The saved results of the tree need not be readable for all.
    everywhere(&tasks()[..EXPERIMENTS.len()], |task| {
        let found = end(directory.command(task).as_nobody())?;
        judge(&found, Some(&found.stdout))?;
        let document = found.expect_json(0);
        let placement = at(&document, "/points/0/placement");
        match at(placement, "/verified") == true && text(at(placement, "/after"), "/source") != "none" {
            true => Ok(()),
            false => Err(format!("not proven: {found}")),
        }
    });
}
