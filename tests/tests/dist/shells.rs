//! The completions, each in its shell.

use super::made;
use latency_tests::packages::Tree;
use latency_tests::program::scratch;
use latency_tests::skip::skip;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Writes a completion to a file; shells source no pipes.
fn file(shell: &str, name: &str) -> PathBuf {
    let directory = scratch().expect("target").join("completions");
    fs::create_dir_all(&directory).expect("a directory");
    let path = directory.join(name);
    fs::write(&path, made(&["completions", shell])).expect("a file");
    path
}

/// Returns the lines of a command's standard output; anything on standard error is a failure.
fn lines(command: &mut Command) -> BTreeSet<String> {
    let output = command.env("LC_ALL", "C").env("HOME", "/nonexistent").output().expect("a shell");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).lines().map(|line| line.trim_end().to_string()).collect()
}

fn set(words: &str) -> BTreeSet<String> {
    words.split(' ').map(String::from).collect()
}

#[test]
fn bash_completes_experiments_options_and_values() {
    let Ok(bash) = Tree::with("bash", &["bash"]) else {
        return skip("bash_completes_experiments_options_and_values", "there is no bash");
    };
    let script = file("bash", "latency-bench.bash");
    let complete = |line: &str| {
        const CALL: &str = "source \"$1\"; COMP_LINE=$2 COMP_POINT=${#2}; _latency_bench; \
                            [[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' \"${COMPREPLY[@]}\"";
        lines(bash.command("bash").args(["--norc", "--noprofile", "-c", CALL, "bash"]).arg(&script).arg(line))
    };
    assert_eq!(complete("latency-bench co"), set("cores compare"));
    assert!(complete("latency-bench v") == set("variants version"));
    assert!(complete("latency-bench help cu") == set("curve"));
    assert!(complete("latency-bench help v") == set("variants"));
    assert_eq!(complete("latency-bench cores --pag"), set("--pages="));
    assert_eq!(complete("latency-bench curve --mi"), set("--min-size="));
    assert_eq!(complete("latency-bench --mi"), set("").into_iter().filter(|word| !word.is_empty()).collect());
    assert_eq!(complete("latency-bench curve --pages="), set("auto 4k thp 2m 1g"));
    assert_eq!(complete("latency-bench curve --pages t"), set("thp"));
    assert!(complete("latency-bench curve --format=").contains("svg"));
    assert!(!complete("latency-bench system --format=").contains("svg"));
    assert_eq!(complete("latency-bench bandwidth --traffic=3"), set("3:1"));
    assert_eq!(complete("latency-bench bandwidth --traffic=3:"), set("1"));
    assert_eq!(
        complete("latency-bench --output=/etc/passw"),
        set("/etc/passwd /etc/passwd-").into_iter().filter(|path| PathBuf::from(path).exists()).collect()
    );
    assert!(complete("latency-bench fit /etc/passw").contains("/etc/passwd"));
}

#[test]
fn zsh_loads_the_completion_and_gives_it_to_arguments() {
    let test = "zsh_loads_the_completion_and_gives_it_to_arguments";
    let zsh = match Tree::with("zsh", &["zsh", "zsh-common"]) {
        Ok(tree) => tree,
        Err(reason) => return skip(test, &reason),
    };
    let script = file("zsh", "_latency-bench");
    // The completion system loads it from its directory; then its answer for a line is checked, with the last
    // step replaced by one that prints.
    const LOAD: &str = "root=${2%/}; module_path=($root/usr/lib/x86_64-linux-gnu/zsh/*(N/)); \
        fpath=(${1:h} $root/usr/share/zsh/functions $root/usr/share/zsh/functions/*(N/) \
        $root/usr/share/zsh/functions/Completion/*(N/)); \
        autoload -Uz compinit; compinit -u -D; print -r -- $_comps[latency-bench]; \
        source $1; _arguments() { print -rl -- $@ }; words=(${=3} ''); CURRENT=$#words; _latency-bench";
    let said = |line: &str| {
        let mut command = zsh.command("zsh");
        lines(command.args(["-f", "-c", LOAD, "zsh"]).arg(&script).arg(zsh.root()).arg(line))
    };
    let curve = said("latency-bench curve");
    assert!(curve.contains("_latency-bench"), "{curve:?}");
    let has = |lines: &BTreeSet<String>, begin: &str| lines.iter().any(|line| line.starts_with(begin));
    assert!(has(&curve, "--min-size=[smallest working set]:SIZE:"), "{curve:?}");
    assert!(has(&curve, "(-o --output)--output=["), "{curve:?}");
    assert!(has(&curve, "(-o --output)-o+["), "{curve:?}");
    assert!(curve.iter().any(|line| line.ends_with(":pages:(auto 4k thp 2m 1g)")), "{curve:?}");
    let matrix = said("latency-bench --json");
    assert!(has(&matrix, "--heatmap[") && !has(&matrix, "--min-size="), "{matrix:?}");
    assert!(said("latency-bench compare").contains("*:file:_files"));
}

#[test]
fn fish_completes_experiments_options_and_values() {
    let test = "fish_completes_experiments_options_and_values";
    let fish = match Tree::with("fish", &["fish", "fish-common", "libpcre2-32-0"]) {
        Ok(tree) => tree,
        Err(reason) => return skip(test, &reason),
    };
    let script = file("fish", "latency-bench.fish");
    let complete = |line: &str| {
        const CALL: &str = "set fish_function_path $argv[2]/usr/share/fish/functions; source $argv[1]; \
                            complete -C $argv[3]";
        let mut command = fish.command("fish");
        let found = lines(command.args(["--no-config", "-c", CALL]).arg(&script).arg(fish.root()).arg(line));
        found
            .iter()
            .map(|line| line.split('\t').next().unwrap_or_default().to_string())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(complete("latency-bench co"), set("cores compare"));
    assert_eq!(complete("latency-bench v"), set("variants version"));
    assert_eq!(complete("latency-bench curve --min"), set("--min-size"));
    assert_eq!(
        complete("latency-bench curve --pages="),
        set("--pages=auto --pages=4k --pages=thp --pages=2m --pages=1g")
    );
    assert!(!complete("latency-bench --").contains("--min-size="));
    assert!(complete("latency-bench curve --format=").contains("--format=svg"));
    assert!(!complete("latency-bench system --format=").contains("--format=svg"));
    assert!(complete("latency-bench fit /etc/passw").contains("/etc/passwd"));
}
