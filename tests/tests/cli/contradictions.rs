//! Saved results that cannot be true: every command that reads one refuses it, with the line and the reason.

use latency_tests::directory::Directory;
use latency_tests::run::finish;
use std::fs;

/// Makes a matrix of one pair, with `more` among the members of its point and `rest` among its own.
fn matrix(more: &str, rest: &str) -> String {
    format!(
        r#"{{"rows":[{{"initiator_node":0,"target_node":0,{more}"ns":150,"working_set_bytes":268435456}}],{rest}"experiment":"matrix"}}"#
    )
}

/// Runs every command that reads `document`; each must refuse it for `reason`, with nothing on standard
/// output.
fn refused_by_all(directory: &Directory, name: &str, document: &str, reason: &str) {
    fs::write(directory.path().join(name), document).expect("a file");
    for arguments in
        [&["compare", name, name][..], &["fleet", name], &["report", name, "--format=text"], &["fit", name]]
    {
        if arguments[0] == "fleet" && !name.ends_with("json") {
            continue;
        }
        let found = finish(&mut directory.command(arguments));
        found.expect_status(1).expect_error(reason);
        assert_eq!(found.stdout, "", "{arguments:?}");
    }
}

#[test]
fn another_schema_is_refused_with_its_remedy() {
    let directory = Directory::new("contradictions-schema");
    for (schema, tool, reason) in [
        (
            r#""schema":3,"#,
            r#""tool":{"name":"latency-bench","version":"9.1.0"},"#,
            "use latency-bench 9.1.0 or later",
        ),
        (
            r#""tool":{"name":"latency-bench","version":"9.1.0"},"#,
            r#""schema":99,"#,
            "use latency-bench 9.1.0 or later",
        ),
        (r#""schema":1,"#, "", "is no longer read; measure again with this version"),
        (r#""schema":2.5,"#, "", "schema is newer than this version reads; use a result saved with"),
        (r#""schema":"x","#, "", "schema is not a number"),
        (r#""schema":null,"#, "", "schema is not a number"),
        (r#""schema":2,"#, r#""tool":{"name":"mlc","version":"3.11"},"#, "not a document of latency-bench"),
    ] {
        refused_by_all(&directory, "later.json", &matrix("", &[schema, tool].concat()), reason);
    }
}

#[test]
fn a_supported_schema_is_not_refused() {
    let directory = Directory::new("contradictions-read");
    for rest in [
        "",
        r#""schema":2,"tool":{"name":"latency-bench","version":"0.1.0"},"#,
        r#""system":{"schema":99,"name":"mlc","tool":{"name":"x"}},"#,
    ] {
        fs::write(directory.path().join("a.json"), matrix("", rest)).expect("a file");
        finish(&mut directory.command(&["compare", "a.json", "a.json"])).expect_status(0);
    }
}

#[test]
fn a_value_outside_of_its_interval_is_refused() {
    let directory = Directory::new("contradictions-interval");
    let reason = "line 1: value outside its own interval";
    refused_by_all(&directory, "a.json", &matrix(r#""ns_low":10,"ns_high":20,"#, ""), reason);
    refused_by_all(&directory, "b.json", &matrix(r#""ns_low":151,"ns_high":160,"#, ""), reason);
    fs::write(directory.path().join("c.json"), matrix(r#""ns_low":150.1,"ns_high":160,"#, ""))
        .expect("a file");
    finish(&mut directory.command(&["compare", "c.json", "c.json"])).expect_status(0);
    let rows = "initiator_node,target_node,ns,ns_low,ns_high\n0,0,150,149,151\n0,1,150,10,20\n";
    refused_by_all(&directory, "d.csv", rows, "line 3: value outside its own interval");
}

#[test]
fn two_values_of_one_pair_are_refused() {
    let directory = Directory::new("contradictions-twice");
    let reason = "two values for one point";
    let pairs = r#"{"rows":[{"initiator_node":0,"target_node":1,"ns":98},{"initiator_node":0,"target_node":1,"ns":500}],"experiment":"matrix"}"#;
    refused_by_all(&directory, "a.json", pairs, reason);
    let reason = "duplicate key in an object";
    refused_by_all(&directory, "c.json", &matrix(r#""ns":98,"#, ""), reason);
    refused_by_all(&directory, "d.json", &matrix("", r#""experiment":"matrix","#), reason);
    refused_by_all(
        &directory,
        "e.json",
        &matrix("", r#""system":{"nodes":[{"id":0},{"id":1,"id":2}]},"#),
        reason,
    );
}

#[test]
fn an_unknown_level_of_trust_is_refused() {
    let directory = Directory::new("contradictions-trust");
    let reason = "trust level is none of good, fair, poor";
    refused_by_all(&directory, "a.json", &matrix("", r#""trust":{"level":"wombat","reasons":[]},"#), reason);
}

#[test]
fn a_difference_too_large_to_show_has_no_hundred_digits() {
    let directory = Directory::new("contradictions-wide");
    let saved = latency_tests::program::workspace().join("tests/fixtures/saved/unsettled.csv");
    fs::copy(saved, directory.path().join("unsettled.csv")).expect("a file");
    let found = finish(&mut directory.command(&["compare", "unsettled.csv", "unsettled.csv"]));
    // No difference would be seen, so there is no verdict.
    let text = &found.expect_status(6).stdout;
    assert!(text.contains("Detection limit: above 1000%"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let found = finish(&mut directory.command(&["compare", "unsettled.csv", "unsettled.csv", "--json"]));
    let document: serde_json::Value = serde_json::from_str(&found.expect_status(6).stdout).expect("JSON");
    assert_eq!(document["summary"]["verdict"], "none");
    assert!(
        document["summary"]["shows_from"].is_null() && !document["summary"]["median_ratio"].is_null(),
        "{document}"
    );
}
