//! The recipes for many hosts: each is run as far as its programs are available, and its fields and commands
//! are checked.

use latency_tests::directory::Directory;
use latency_tests::program::workspace;
use latency_tests::prometheus;
use latency_tests::run::{finish, run};
use latency_tests::skip::skip;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};
use yaml_rust2::{Yaml, YamlLoader};

/// Returns the path of a recipe.
pub fn recipe(name: &str) -> PathBuf {
    workspace().join("tests/recipes").join(name)
}

/// Returns the text of a recipe.
pub fn text(name: &str) -> String {
    let path = recipe(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns a recipe in YAML.
pub fn yaml(name: &str) -> Yaml {
    let mut documents =
        YamlLoader::load_from_str(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(documents.len(), 1, "{name}");
    documents.remove(0)
}

fn words(list: &Yaml) -> Vec<&str> {
    let words: Vec<&str> = list.as_vec().expect("a list").iter().filter_map(Yaml::as_str).collect();
    assert_eq!(words.len(), list.as_vec().map_or(0, Vec::len), "{list:?}");
    words
}

/// Asserts that the executable accepts these arguments of a measurement, without writing their output.
fn assert_taken(arguments: &[&str]) {
    let mut plan: Vec<&str> = arguments
        .iter()
        .copied()
        .filter(|word| !word.starts_with("--output") && !word.contains("env:"))
        .collect();
    plan.push("--dry-run");
    run(&plan).expect_status(0);
}

/// Returns the script `name` in a directory with the executable; its own commands come before those of the
/// system.
fn script(directory: &Directory, name: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.arg(recipe(name)).current_dir(directory.path());
    command.env("PATH", format!("{}:{path}", directory.path().display()));
    command
}

fn run_program(command: &mut Command) -> String {
    let output = command.output().expect("a program");
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Makes a result of a host that is as fast as `factor` times another.
fn saved(host: &str, factor: f64) -> String {
    format!(
        r#"{{"rows":[{{"initiator_node":0,"target_node":0,"ns":{}}}],"experiment":"matrix","host":{{"name":"{host}","cpu_model":"X"}}}}"#,
        100.0 * factor
    )
}

#[test]
fn slurm_measures_nodes_and_names_the_slow_ones() {
    let directory = Directory::new("recipe-slurm");
    // This fake srun accepts the options before the command, and writes the output of each node to a file.
    directory.script(
        "",
        "srun",
        "while [ \"${1#--}\" != \"$1\" ]; do\n\
         case $1 in --output=*) results=${1#--output=};; esac; shift; done\n\
         results=${results%/*}; cp others-* \"$results\"\n\
         \"$@\" --size=1M --trials=3 --iters=2000 > \"$results/here.jsonl\"",
    );
    let others = |slow: usize| {
        for host in 0..6 {
            let line = saved(&format!("n{host}"), if host == slow { 1.5 } else { 1.0 });
            fs::write(directory.path().join(format!("others-n{host}.jsonl")), line + "\n").expect("a result");
        }
    };
    let job = |id: &str| finish(script(&directory, "slurm/fleet.sh").env("SLURM_JOB_ID", id));
    others(6);
    job("7").expect_status(0);
    let found = finish(
        script(&directory, "slurm/fleet.sh").envs([("SLURM_JOB_ID", "6"), ("SLURM_JOB_NUM_NODES", "9")]),
    );
    assert!(found.expect_status(6).stdout.starts_with("Missing: 2 of 9 expected hosts."), "{found}");
    // A node has become slow since then: results of an older job would hide it.
    others(4);
    let found = job("8");
    found.expect_status(5);
    assert!(found.stdout.starts_with("1 of 6 hosts is slow: n4 ("), "{found}");
    // Slurm may reuse an id, or a user may run a job twice: existing results must not be mixed with new ones.
    assert!(!job("8").status.success());
    let own = fs::read_to_string(directory.path().join("latency-7-0/here.jsonl")).expect("a result");
    assert!(own.contains(r#""SLURM_JOB_ID":"7""#), "{own}");
}

/// Slurm ends a slow check, and Debian's `sh` is dash, which runs no trap of EXIT for a signal.
#[test]
fn a_terminated_health_check_leaves_no_files() {
    use std::os::unix::process::CommandExt;
    let directory = Directory::new("recipe-ended");
    let scratch = directory.path().join("scratch");
    fs::create_dir(&scratch).expect("a directory");
    directory.script("", "scontrol", "echo \"$@\" > drained");
    for shell in ["dash", "bash", "sh"] {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut check = Command::new(shell);
        check.arg(recipe("slurm/health-check.sh")).current_dir(directory.path()).process_group(0);
        let programs = format!("{}:{}:{path}", directory.path().display(), recipe("check").display());
        check.env("PATH", programs).env("TMPDIR", &scratch);
        check.stdout(Stdio::null()).stderr(Stdio::null());
        let mut check = match check.spawn() {
            Ok(check) => check,
            Err(error) => {
                skip("recipes::a_terminated_health_check_leaves_no_files", &format!("{shell}: {error}"));
                continue;
            }
        };
        // The measurement is in progress by now; if it is not yet, the signal still ends it.
        thread::sleep(Duration::from_millis(300));
        // SAFETY: takes numbers; the process has not been waited for, so its group is still valid.
        assert_eq!(unsafe { libc::kill(-(check.id() as i32), libc::SIGTERM) }, 0, "{shell}");
        assert!(!check.wait().expect("a child").success(), "{shell}");
        let left: Vec<_> = fs::read_dir(&scratch).expect("the directory").flatten().collect();
        assert!(left.is_empty(), "{shell}: {left:?}");
        assert_eq!(directory.names(), ["scontrol", "scratch"], "{shell}");
    }
}

#[test]
fn kubernetes_gives_whole_cpus_and_the_capability_that_mbind_needs() {
    for (name, kind, containers, added) in [
        ("kubernetes/job.yaml", "Job", "containers", &["SYS_NICE"][..]),
        // The directory may belong to another user.
        ("kubernetes/daemonset.yaml", "DaemonSet", "initContainers", &["SYS_NICE", "DAC_OVERRIDE"]),
    ] {
        let manifest = yaml(name);
        assert_eq!(manifest["kind"].as_str(), Some(kind));
        let pod = &manifest["spec"]["template"]["spec"];
        let container = &pod[containers][0];
        let arguments = words(&container["args"]);
        assert_taken(&arguments);
        let capabilities = &container["securityContext"]["capabilities"];
        assert_eq!(
            (words(&capabilities["drop"]), words(&capabilities["add"])),
            (vec!["ALL"], added.to_vec())
        );
        assert_eq!(pod["automountServiceAccountToken"].as_bool(), Some(false), "{name}");
        // The image of a release has a manifest for each of these, and nodes of other architectures have none.
        let required = &pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
        let expressions = required["nodeSelectorTerms"][0]["matchExpressions"].as_vec().expect("a list");
        assert_eq!(expressions.len(), 1, "{name}");
        let (key, operator) = (&expressions[0]["key"], &expressions[0]["operator"]);
        assert_eq!((key.as_str(), operator.as_str()), (Some("kubernetes.io/arch"), Some("In")), "{name}");
        assert_eq!(words(&expressions[0]["values"]), ["amd64", "arm64"], "{name}");
        let image = container["image"].as_str().expect("an image");
        assert_eq!(
            image.rsplit_once(':').map(|(_, version)| version),
            Some(env!("CARGO_PKG_VERSION")),
            "{name}"
        );
        let pushed = format!(
            "#   skopeo copy --all oci-archive:latency-bench-{}-linux.oci.tar docker://{image}",
            env!("CARGO_PKG_VERSION")
        );
        assert!(text(name).lines().any(|line| line == pushed), "{name}: {pushed}");
        assert_eq!(
            pod["securityContext"]["seccompProfile"]["type"].as_str(),
            Some("RuntimeDefault"),
            "{name}"
        );
        // Guaranteed: every container has whole CPUs, and no more than it asks for.
        for list in ["initContainers", "containers"] {
            for container in pod[list].as_vec().into_iter().flatten() {
                let security = &container["securityContext"];
                assert_eq!(security["allowPrivilegeEscalation"].as_bool(), Some(false), "{name}");
                assert_eq!(security["readOnlyRootFilesystem"].as_bool(), Some(true), "{name}");
                assert_eq!(words(&security["capabilities"]["drop"]), ["ALL"], "{name}");
                let resources = &container["resources"];
                assert_eq!(resources["requests"], resources["limits"], "{name}");
                let cpus = resources["limits"]["cpu"].as_str().and_then(|cpus| cpus.parse::<u32>().ok());
                assert!(cpus.is_some_and(|cpus| cpus > 0), "{name}: {resources:?}");
                assert!(resources["limits"]["memory"].as_str().is_some(), "{name}");
            }
        }
        let selector = &manifest["spec"]["selector"]["matchLabels"]["app"];
        let label = &manifest["spec"]["template"]["metadata"]["labels"]["app"];
        assert!(selector.is_badvalue() || selector == label, "{name}");
    }
    let daemon = yaml("kubernetes/daemonset.yaml");
    let pod = &daemon["spec"]["template"]["spec"];
    let mount = &pod["initContainers"][0]["volumeMounts"][0];
    assert_eq!(mount["name"], pod["volumes"][0]["name"]);
    assert!(pod["volumes"][0]["hostPath"]["path"].as_str().is_some());
    let path = mount["mountPath"].as_str().expect("a path");
    let output = format!("--output={path}/latency_bench.prom");
    assert!(words(&pod["initContainers"][0]["args"]).contains(&output.as_str()));
    let job = yaml("kubernetes/job.yaml");
    assert_eq!(job["spec"]["parallelism"], job["spec"]["completions"]);
    let variable = &job["spec"]["template"]["spec"]["containers"][0]["env"][0]["name"];
    let label = format!("--label=env:{}", variable.as_str().expect("a name"));
    assert!(words(&job["spec"]["template"]["spec"]["containers"][0]["args"]).contains(&label.as_str()));
}

#[test]
fn ansible_unpacks_measures_and_compares() {
    let plays = yaml("ansible/fleet.yaml");
    let task = |play: usize, task: usize, module: &str| plays[play]["tasks"][task][module].clone();
    let measure = &plays[0]["tasks"][0];
    // In a directory that everybody may write to, a file at a fixed path may belong to another user; this one
    // is new.
    let place = &measure["block"][0];
    assert_eq!(place["ansible.builtin.tempfile"]["state"].as_str(), Some("directory"));
    let path = format!("{{{{ {}.path }}}}", place["register"].as_str().expect("a name"));
    let archive = &measure["block"][1]["ansible.builtin.unarchive"];
    assert_eq!(archive["src"].as_str(), Some("{{ release }}-{{ ansible_architecture }}-linux.tar.gz"));
    assert_eq!(
        (archive["dest"].as_str(), words(&archive["extra_opts"])),
        (Some(&*path), vec!["--strip-components=1"])
    );
    let argv = words(&measure["block"][2]["ansible.builtin.command"]["argv"]);
    assert_eq!(argv[0], format!("{path}/bin/latency-bench"));
    let removed = &measure["always"][0]["ansible.builtin.file"];
    assert_eq!((removed["path"].as_str(), removed["state"].as_str()), (Some(path.as_str()), Some("absent")));
    let arguments: Vec<String> =
        argv[1..].iter().map(|word| word.replace("{{ inventory_hostname }}", "host")).collect();
    assert_taken(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let compare = task(1, 1, "ansible.builtin.command");
    assert_eq!(task(1, 0, "ansible.builtin.unarchive")["src"], archive["src"]);
    let program = "{{ release }}-{{ ansible_architecture }}-linux/bin/latency-bench";
    assert_eq!(words(&compare["argv"]), [program, "fleet", "--expect={{ groups['all'] | length }}", "-"]);
    assert_eq!(task(1, 1, "failed_when").as_str(), Some("compared.rc not in [0, 5]"));
    for play in 0..2 {
        // The fact that chooses the archive.
        assert_eq!(plays[play]["gather_facts"].as_bool(), Some(true));
        assert!(words(&plays[play]["gather_subset"]).contains(&"architecture"));
    }
    assert!(compare["stdin"].as_str().is_some_and(|text| text.contains("measured.stdout")));
}

#[test]
fn systemd_starts_one_run_a_day() {
    let service = text("systemd/latency-bench.service");
    let line = service.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("a command");
    let words: Vec<&str> = line.split(' ').collect();
    assert!(words[0].ends_with("/latency-bench"));
    assert_taken(&words[1..]);
    let directory = Directory::new("recipe-systemd");
    let mut own = words[1..]
        .iter()
        .map(|word| {
            word.replace("/var/lib/prometheus/node-exporter/", "").replace("/var/lib/latency-bench/", "")
        })
        .collect::<Vec<_>>();
    own.extend(["--size=1M", "--trials=3", "--iters=2000"].map(String::from));
    finish(&mut directory.command(&own)).expect_status(0);
    let written = fs::read_to_string(directory.path().join("latency_bench.prom")).expect("the file");
    assert!(!prometheus::read(&written).expect("metrics").is_empty());
    assert!(fs::read_to_string(directory.path().join("result.jsonl")).expect("the result").starts_with('{'));
    assert!(text("systemd/latency-bench.timer").contains("OnCalendar=daily"));
    // The unit may write only to the directory of its output; the calls of the measurement stay allowed.
    let value = |key: &str| service.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    assert_eq!((value("ProtectSystem"), value("NoNewPrivileges")), (Some("strict"), Some("true")));
    let output = words.iter().find_map(|word| word.strip_prefix("--output=")).expect("an output");
    let written = value("ReadWritePaths").expect("a path");
    assert_eq!(Path::new(output).parent(), Some(Path::new(written)));
    assert_eq!(value("StateDirectory"), Some("latency-bench"));
    let capabilities: Vec<&str> = value("CapabilityBoundingSet").expect("some").split(' ').collect();
    assert_eq!(capabilities, ["CAP_SYS_NICE", "CAP_DAC_OVERRIDE"]);
    for key in ["SystemCallFilter", "ProtectProc", "ProcSubset", "AllowedCPUs", "InaccessiblePaths"] {
        assert_eq!(value(key), None, "{key}");
    }
    // The executable of the unit is not installed here: use a copy of the unit that names an existing one.
    for name in ["latency-bench.service", "latency-bench.timer"] {
        let unit = text(&format!("systemd/{name}")).replace("/usr/local/bin/latency-bench", "/bin/true");
        fs::write(directory.path().join(name), unit.replace("Documentation=man:latency-bench(1)\n", ""))
            .expect("a unit");
    }
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "./latency-bench.service", "./latency-bench.timer"]).current_dir(directory.path());
    match verify.output() {
        Err(error) => skip("recipes::systemd_starts_one_run_a_day", &format!("systemd-analyze: {error}")),
        Ok(output) => assert!(output.status.success(), "{output:?}"),
    }
}

#[test]
fn the_readme_shows_the_recipes() {
    let readme = text("README.md");
    let listed =
        run_program(Command::new("find").arg(recipe("")).args(["-type", "f", "!", "-name", "README.md"]));
    let recipes: String = listed.lines().map(|path| fs::read_to_string(path).expect("a recipe")).collect();
    for path in listed.lines() {
        let place = Path::new(path)
            .parent()
            .and_then(Path::file_name)
            .expect("a folder")
            .to_string_lossy()
            .into_owned();
        assert!(readme.contains(&format!("]({place}/")), "no line of the table has {place}");
    }
    let mut shown = 0;
    let mut is_code = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            is_code = line == "```sh" && !is_code;
        } else if is_code && !line.is_empty() && !line.starts_with('#') {
            assert!(recipes.contains(line.trim_end_matches('\\').trim()), "no recipe has {line:?}");
            shown += 1;
        }
    }
    assert!(shown >= 6, "{shown}");
}
