//! Results of many hosts, made from one: a host of another identity is not judged and named as that, and a host that is
//! slower than its like is found.

use super::case::{tail, words};
use super::formats::Judged;
use super::random::Random;
use super::{APART, Case, PLANTED, UNSAID};
use serde_json::{Value, json};

/// A change of a result that makes it incomparable: its code in `fleet`, its name in `compare`, and the change, which
/// returns false if the result lacks it.
type Identity = (&'static str, &'static str, fn(&mut Value) -> bool);

const IDENTITIES: [Identity; 13] = [
    ("cpu-family", "family", |host| number(host, "/system/cpu/family")),
    ("cpu-model", "model", |host| number(host, "/system/cpu/model")),
    ("cpu-stepping", "stepping", |host| number(host, "/system/cpu/stepping")),
    ("core-type", "core_type", |host| {
        let Some(cpu) = host["system"]["cpu"].as_object_mut() else { return false };
        let other = if cpu.get("core_type") == Some(&json!("efficiency core")) {
            "performance core"
        } else {
            "efficiency core"
        };
        cpu.insert("core_type".into(), json!(other)).is_some()
    }),
    ("l1-size", "l1_bytes", |host| cache(host, 1)),
    ("l2-size", "l2_bytes", |host| cache(host, 2)),
    ("l3-size", "l3_bytes", |host| cache(host, 3)),
    ("nodes", "nodes", |host| {
        let Some(nodes) = host["system"]["nodes"].as_array_mut() else { return false };
        let mut another = nodes[0].clone();
        another["id"] = json!(7);
        nodes.push(another);
        true
    }),
    ("pages", "pages_obtained", |host| {
        each_row(host, |row| {
            let other = if row["pages_obtained"] == "1g" { "4k" } else { "1g" };
            row["pages_obtained"].is_string() && set(row, "pages_obtained", json!(other))
        })
    }),
    ("size", "working_set_bytes", |host| {
        each_row(host, |row| {
            let larger = row["working_set_bytes"].as_u64().map(|bytes| bytes * 4);
            larger.is_some_and(|bytes| set(row, "working_set_bytes", json!(bytes)))
        })
    }),
    ("order", "order", |host| {
        each_row(host, |row| row["walk_order"] == "random" && set(row, "walk_order", json!("2m-local")))
    }),
    ("stride", "stride_bytes", |host| {
        each_row(host, |row| {
            let larger = row["stride_bytes"].as_u64().map(|bytes| bytes * 2);
            larger.is_some_and(|bytes| set(row, "stride_bytes", json!(bytes)))
        })
    }),
    ("kernel", "kernel", |host| {
        each_row(host, |row| row["kernel"] == "pointer" && set(row, "kernel", json!("index")))
    }),
];

/// The identities of the host itself, which results of all experiments have.
const OF_HOSTS: usize = 8;

fn set(row: &mut Value, member: &str, value: Value) -> bool {
    row[member] = value;
    true
}

/// Changes every row, and returns whether each was changed.
fn each_row(host: &mut Value, change: impl Fn(&mut Value) -> bool) -> bool {
    host["rows"].as_array_mut().is_some_and(|rows| !rows.is_empty() && rows.iter_mut().all(change))
}

fn number(host: &mut Value, place: &str) -> bool {
    let Some(member) = host.pointer_mut(place).filter(|member| member.is_u64()) else { return false };
    *member = json!(member.as_u64().unwrap_or(0) + 1);
    true
}

fn cache(host: &mut Value, level: u64) -> bool {
    let caches = host["system"]["caches"].as_array_mut().into_iter().flatten();
    let mut of_data = caches.filter(|cache| cache["level"] == level && cache["type"] != "Instruction");
    let Some(cache) = of_data.next() else { return false };
    cache["bytes"] = json!(cache["bytes"].as_u64().unwrap_or(0) * 2);
    true
}

/// Multiplies every time of a result, and divides every rate.
fn slow(value: &mut Value, factor: f64) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| slow(item, factor)),
        Value::Object(members) => {
            for (name, member) in members {
                let plain = name.trim_end_matches("_low").trim_end_matches("_high");
                let scale = match plain {
                    "system" | "health" | "clock" | "sizing" | "conditions" => continue,
                    _ if plain == "ns" || plain.ends_with("_ns") => factor,
                    _ if plain.ends_with("bytes_per_second") => 1.0 / factor,
                    _ => {
                        slow(member, factor);
                        continue;
                    }
                };
                if let Some(number) = member.as_f64() {
                    *member = json!(number * scale);
                }
            }
        }
        _ => {}
    }
}

/// Returns a host of this name, whose times are those of `like` times a factor near 1.
fn host(like: &Value, name: &str, factor: f64) -> Value {
    let mut host = like.clone();
    slow(&mut host, factor);
    host["host"]["name"] = json!(name);
    host["host"]["boot_id"] = json!(format!("{name}-1"));
    host
}

/// Draws a result of one run, which trusts itself: one of the repository, or a small one made up.
fn like(case: &mut Case<'_>) -> Value {
    for _ in 0..20 {
        let (_, text) = case.random.pick(&case.surroundings.corpus.files);
        let found = serde_json::Deserializer::from_str(text).into_iter::<Value>().next();
        let Some(Ok(mut found)) = found else { continue };
        let is_run =
            found["host"].is_object() && found["rows"].as_array().is_some_and(|rows| !rows.is_empty());
        if is_run
            && found["partial"] == false
            && !["loaded", "report", "show"].iter().any(|name| found["experiment"] == *name)
        {
            found["trust"] = json!({"level": "good", "reasons": [], "omitted": 0});
            found["warnings"] = json!([]);
            each_row(&mut found, |row| row["verified"].is_null() || set(row, "verified", json!(true)));
            return found;
        }
    }
    made_up()
}

/// Returns a result with only what a comparison of hosts needs.
fn made_up() -> Value {
    let row = |to: u32, ns: f64| {
        json!({
            "initiator_node": 0, "target_node": to, "working_set_bytes": 256 << 20, "stride_bytes": 64,
            "walk_order": "random", "kernel": "pointer", "pages_asked": "auto", "pages_obtained": "2m", "verified": true,
            "ns": ns, "ns_low": ns * 0.998, "ns_high": ns * 1.002
        })
    };
    json!({
        "schema": 2, "experiment": "matrix", "partial": false, "started": "2026-11-22T01:20:00Z", "duration_s": 5.0,
        "host": {"name": "", "boot_id": "", "cpu_model": "Imaginary 8000", "labels": {}},
        "system": {
            "cpu": {"family": 6, "model": 143, "stepping": 8, "core_type": null},
            "nodes": [{"id": 0}, {"id": 1}],
            "caches": [
                {"level": 1, "type": "Data", "bytes": 49152}, {"level": 1, "type": "Instruction", "bytes": 32768},
                {"level": 2, "type": "Unified", "bytes": 2097152}, {"level": 3, "type": "Unified", "bytes": 62914560}
            ]
        },
        "trust": {"level": "good", "reasons": [], "omitted": 0}, "warnings": [],
        "rows": [row(0, 98.0), row(1, 154.0)]
    })
}

/// Writes hosts in a random order, each on its line, and lets `fleet` judge them; returns its exit status and document.
fn fleet(case: &mut Case<'_>, mut hosts: Vec<Value>) -> Option<(i32, Value)> {
    let mut text = String::new();
    while !hosts.is_empty() {
        let next = case.random.below(hosts.len());
        text += &(hosts.swap_remove(next).to_string() + "\n");
    }
    case.write("fleet.jsonl", text);
    let judged = Judged { width: false, numbers: true };
    let (status, run) = case.judged(&words(&FLEET), &[0, 1, 5, 6], judged)?;
    serde_json::from_str(&run.stdout).ok().map(|document| (status, document))
}

const FLEET: [&str; 3] = ["fleet", "fleet.jsonl", "--json"];

/// Returns the codes of a host's rows.
fn codes<'d>(document: &'d Value, host: &'d str) -> Vec<&'d str> {
    let rows = document["rows"].as_array().into_iter().flatten();
    rows.filter(|row| row["host"] == *host).filter_map(|row| row["code"].as_str()).collect()
}

/// Draws hosts that are alike.
fn alike(random: &mut Random, like: &Value) -> Vec<Value> {
    let count = 6 + random.below(6);
    (0..count).map(|index| host(like, &format!("n{index}"), random.between(0.997, 1.003))).collect()
}

/// Judges hosts among which one differs in one identity, and compares it with another.
pub fn apart(case: &mut Case<'_>) {
    let like = if case.random.one_in(2) { made_up() } else { like(case) };
    let is_matrix = like["experiment"] == "matrix";
    let of = if is_matrix { IDENTITIES.len() } else { OF_HOSTS };
    let (code, key, change) = IDENTITIES[case.index as usize % of];
    let factor = *case.random.pick(&[0.5, 1.0, 1.2, 2.0, 5.0]);
    let mut other = host(&like, "other", factor);
    let usual = alike(&mut case.random, &like);
    case.write("a", usual[0].to_string());
    if !change(&mut other) {
        return;
    }
    case.write("b", other.to_string());
    let is_judged = fleet(case, usual.clone())
        .is_some_and(|(status, document)| status == 0 && document["summary"]["judged_hosts"] == usual.len());
    if !is_judged {
        return;
    }
    if let Some((status, document)) = fleet(case, [usual, vec![other]].concat()) {
        let found = codes(&document, "other");
        if status != 0 || !found.contains(&code) || found.contains(&"slower") {
            let seen = format!("status {status}, codes {found:?}, not {code}, of {}", like["experiment"]);
            case.note(APART, &words(&FLEET), &seen);
        }
    }
    let arguments = words(&["compare", "a", "b", "--json"]);
    let judged = Judged { width: false, numbers: true };
    let Some((status, run)) = case.judged(&arguments, &[0, 1, 5, 6], judged) else { return };
    let is_said = match serde_json::from_str::<Value>(&run.stdout) {
        Ok(document) => {
            document["differs"].as_array().into_iter().flatten().any(|differs| differs["what"] == key)
        }
        Err(_) => status == 1,
    };
    if !is_said {
        let seen =
            format!("status {status}, without {key}, of {}: {}", like["experiment"], tail(&run.stderr));
        case.note(UNSAID, &arguments, &seen);
    }
}

/// Judges hosts among which one is slower, and perhaps lacks an identity that the others have.
pub fn planted(case: &mut Case<'_>) {
    let like = like(case);
    let usual = alike(&mut case.random, &like);
    let is_clean = |found: Option<(i32, Value)>| {
        found.is_some_and(|(status, document)| {
            status == 0 && document["summary"]["judged_hosts"] == usual.len()
        })
    };
    if !is_clean(fleet(case, usual.clone())) {
        return;
    }
    let factor = *case.random.pick(&[1.5, 2.0, 4.0]);
    // A host whose interval contains the usual value is not slower.
    let is_certain = |row: &Value| {
        let ends = row["ns_low"].as_f64().zip(row["ns"].as_f64());
        row["percentile"].is_null() && ends.is_some_and(|(low, ns)| low * factor > ns * 1.2)
    };
    if !like["rows"].as_array().into_iter().flatten().all(is_certain) {
        return;
    }
    let mut slow = host(&like, "slow", factor);
    if case.random.one_in(2) {
        let member = *case.random.pick(&["family", "model", "stepping", "core_type"]);
        if let Some(cpu) = slow["system"]["cpu"].as_object_mut() {
            cpu.remove(member);
        }
    } else if case.random.one_in(2)
        && let Some(system) = slow["system"].as_object_mut()
    {
        system.remove("caches");
    }
    if let Some((status, document)) = fleet(case, [usual, vec![slow]].concat()) {
        let rows = document["rows"].as_array().into_iter().flatten();
        let others: Vec<&Value> =
            rows.filter(|row| row["host"] != "slow" && row["code"] == "slower").collect();
        let found = codes(&document, "slow");
        if status != 5 || !found.contains(&"slower") || !others.is_empty() {
            let seen = format!(
                "status {status}, {factor} times slower: codes {found:?}, others {others:?}, of {}",
                like["experiment"]
            );
            case.note(PLANTED, &words(&FLEET), &seen);
        }
    }
}
