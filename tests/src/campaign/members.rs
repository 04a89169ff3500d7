//! Saved results with one member that cannot be: an interval in reverse, memory above its random load, a count or a flag in
//! words, a word that no result has. Every command that reads the row has to refuse the file by its line.

use super::case::{tail, words};
use super::formats::Judged;
use super::random::Random;
use super::{Case, MEMBER};
use serde_json::{Value, json};

/// A value of a member that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Reversed,
    Outside,
    Memory,
    Negative,
    NotANumber,
    Count,
    Flag,
    WordOfAList,
    NumberForWord,
}

const KINDS: [Kind; 9] = [
    Kind::Reversed,
    Kind::Outside,
    Kind::Memory,
    Kind::Negative,
    Kind::NotANumber,
    Kind::Count,
    Kind::Flag,
    Kind::WordOfAList,
    Kind::NumberForWord,
];

/// Members that count or number something.
const COUNTS: [&str; 8] =
    ["chains", "work", "fillers", "cores", "lines", "home_node", "initiator_cpu", "target_cpu"];
/// Members whose words are all known.
const OF_A_LIST: [&str; 3] = ["walk_order", "pages_asked", "pages_obtained"];
/// Members with any word.
const WORDS: [&str; 8] = ["kernel", "variant", "filler", "traffic", "class", "method", "op", "state"];

/// Reads a result with a member that cannot be.
pub fn run(case: &mut Case<'_>) {
    let kind = KINDS[case.index as usize % KINDS.len()];
    // Most files have rows of a few experiments: one with a suitable row is looked for.
    for _ in 0..40 {
        let (name, text) = case.random.pick(&case.surroundings.corpus.files);
        let altered = match name.ends_with(".json") {
            true => altered_document(text, kind, &mut case.random),
            false => altered_table(text, kind, &mut case.random),
        };
        let Some((altered, what)) = altered else { continue };
        case.write("a", text);
        case.write("b", &altered);
        let reads = |run: crate::run::Run| run.status.code() == Some(0);
        if !case.run(&words(&["show", "a"])).is_some_and(reads) {
            continue;
        }
        let arguments = match case.random.below(4) {
            0 => words(&["compare", "a", "b", "--json"]),
            1 => words(&["compare", "b", "a", "--force"]),
            2 => words(&["show", "b", "--json"]),
            _ => words(&[
                "show",
                "b",
                &format!("--format={}", case.random.pick(&["text", "csv", "prometheus", "jsonl"])),
            ]),
        };
        if let Some((status, run)) = case.judged(&arguments, &[0, 1, 5, 6], Judged::default())
            && (status != 1 || !run.stderr.contains("line "))
        {
            case.note(MEMBER, &arguments, &format!("status {status}: {}\n{name}, {what}", tail(&run.stderr)));
        }
        return;
    }
}

/// Returns a value that cannot be of one member of a row, with the name of the member; `None` if the row has none.
fn altered_row(row: &Value, kind: Kind, is_text: bool, random: &mut Random) -> Option<Vec<(String, Value)>> {
    let number = |name: &str| row[name].as_f64();
    let one = |name: &str, value: Value| Some(vec![(name.to_string(), value)]);
    let known = |names: &[&str], is: fn(&Value) -> bool, random: &mut Random| {
        let there: Vec<&str> = names.iter().filter(|name| is(&row[**name])).copied().collect();
        (!there.is_empty()).then(|| there[random.below(there.len())].to_string())
    };
    let ends = || number("ns_low").zip(number("ns_high")).filter(|(low, high)| *low < high * 0.998);
    match kind {
        Kind::Reversed => {
            let (low, high) = ends()?;
            Some(vec![("ns_low".into(), json!(high)), ("ns_high".into(), json!(low))])
        }
        Kind::Outside => ends().and_then(|(_, high)| one("ns", json!(high * 3.0))),
        Kind::Memory => {
            let (_, high) = ends()?;
            number("memory_ns")?;
            let members = [("", 3.0), ("_low", 2.9), ("_high", 3.1)];
            let members = members.map(|(end, factor)| (format!("memory_ns{end}"), json!(high * factor)));
            Some(members.to_vec())
        }
        Kind::Negative => one("ns", json!(number("ns").map(|ns| -ns)?)),
        Kind::NotANumber => {
            let name = known(
                &["ns", "ns_low", "working_set_bytes", "stride_bytes"],
                |value| value.is_number(),
                random,
            )?;
            let odd: &[&str] = if is_text { &["twelve", "12 ns?", "--"] } else { &["12", "nan", ""] };
            one(&name, json!(*random.pick(odd)))
        }
        Kind::Count => {
            let name = known(&COUNTS, |value| value.is_number(), random)?;
            let odd = [json!("many"), json!(1.5), json!(-1), json!("0x4")];
            one(&name, random.pick(&odd).clone())
        }
        Kind::Flag => {
            let name = known(&["verified", "prefetch"], |value| value.is_boolean(), random)?;
            one(&name, random.pick(&[json!("yes"), json!(1), json!("TRUE")]).clone())
        }
        Kind::WordOfAList => {
            let name = known(&OF_A_LIST, |value| value.is_string(), random)?;
            one(
                &name,
                random.pick(&[json!("sorted"), json!("4096"), json!("m\u{1b}]0;x"), json!("Random")]).clone(),
            )
        }
        Kind::NumberForWord if is_text => None,
        Kind::NumberForWord => {
            let name = known(&WORDS, |value| value.is_string(), random)?;
            one(&name, random.pick(&[json!(12), json!(true), json!([])]).clone())
        }
    }
}

/// Returns true if commands read everything in a row: percentiles, levels of load, and latencies beside bandwidths are not
/// compared.
fn is_read(row: &Value, experiment: &str) -> bool {
    let has = |name: &str| !row[name].is_null();
    row["ns"].is_number()
        && !has("percentile")
        && !has("offered_bytes_per_second")
        && experiment != "loaded"
        && (experiment != "bandwidth" || has("traffic"))
}

/// Returns the document with a member that cannot be in one of its rows.
fn altered_document(text: &str, kind: Kind, random: &mut Random) -> Option<(String, String)> {
    let mut document: Value = serde_json::from_str(text).ok()?;
    document["host"].as_object().filter(|_| document["sections"].is_null())?;
    let experiment = document["experiment"].as_str()?;
    let rows = document["rows"].as_array().filter(|rows| !rows.is_empty())?;
    let index = random.below(rows.len());
    let row = rows.get(index).filter(|row| is_read(row, row["experiment"].as_str().unwrap_or(experiment)))?;
    let members = altered_row(row, kind, false, random)?;
    for (name, value) in &members {
        document["rows"][index][name.as_str()] = value.clone();
    }
    let altered = serde_json::to_string_pretty(&document).ok()?;
    Some((altered, format!("row {index}: {members:?}")))
}

/// Returns the table with a field that cannot be in one of its rows.
fn altered_table(text: &str, kind: Kind, random: &mut Random) -> Option<(String, String)> {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let names: Vec<String> = lines.first()?.split(',').map(String::from).collect();
    if !names.iter().any(|name| name == "ns") || lines.len() < 2 {
        return None;
    }
    let line = 1 + random.below(lines.len() - 1);
    let mut fields: Vec<String> = lines[line].split(',').map(String::from).collect();
    if fields.len() != names.len() {
        return None;
    }
    let value = |field: &String| match field.as_str() {
        "" => Value::Null,
        "true" | "false" => json!(field == "true"),
        field => field.parse::<f64>().map_or_else(|_| json!(field), |number| json!(number)),
    };
    let row: Value =
        names.iter().cloned().zip(fields.iter().map(value)).collect::<serde_json::Map<_, _>>().into();
    let experiment = row["experiment"].as_str().unwrap_or_default();
    // A table without experiments may be of another tool.
    if experiment.is_empty() || !is_read(&row, experiment) {
        return None;
    }
    let members = altered_row(&row, kind, true, random)?;
    for (name, value) in &members {
        let place = names.iter().position(|known| known == name)?;
        fields[place] = value.as_str().map_or_else(|| value.to_string(), String::from);
    }
    lines[line] = fields.join(",");
    Some((lines.join("\n") + "\n", format!("line {}: {members:?}", line + 1)))
}
