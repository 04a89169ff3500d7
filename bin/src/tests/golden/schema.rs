//! The JSON schema of all documents, derived from their descriptions: objects, lists and values, the meaning of each,
//! and the members that every instance has.
//!
//! # References
//!
//! JSON Schema, draft 2020-12.

use crate::record::columns::{Column, FIELDS_OF_POINTS, HOST, NOT_MEASURED, NS, STARTED};
use std::collections::BTreeMap;
use std::string::{String, ToString};
use std::vec::Vec;
use std::{format, vec};

use super::json::Json;
use super::seen::{Fields, Seen, Shape, ends};
use latency_report::Field;

/// Members of a document that have one value in each kind of document.
const CONSTANT: [&str; 2] = ["schema", "experiment"];

/// Complete lists of valid words, by the name of the member. If a name has several lists, the list with the
/// words seen applies.
const WORDS: [(&str, &[&str]); 12] = [
    ("agreement", &["agrees", "part", "more"]),
    ("cpu_chosen", &["first", "idle", "asked"]),
    ("largest_pages", &["thp", "thp-32m", "thp-512m", "64k", "2m", "32m", "512m", "1g", "16g"]),
    ("means", &["bind", "first touch", "sole node", "no NUMA"]),
    ("outstanding_misses_bound", &["at_most", "at_least"]),
    ("pacing", &["poisson", "even"]),
    (
        "walk_order",
        &[
            "random",
            "page-local",
            "2m-local",
            "sequential",
            "backward",
            "grouped-1",
            "grouped-2",
            "grouped-4",
        ],
    ),
    (
        "pages_asked",
        &["auto", "4k", "16k", "64k", "thp", "thp-32m", "thp-512m", "2m", "32m", "512m", "1g", "16g"],
    ),
    ("pages_obtained", &["4k", "16k", "64k", "thp", "thp-32m", "thp-512m", "2m", "32m", "512m", "1g", "16g"]),
    ("severity", &["note", "fair", "poor"]),
    ("verdict", &["limit reached", "over-saturated", "generators exhausted", "one generator", "not shown"]),
    ("verdict", &["same", "slower", "faster", "none"]),
];

/// Names of shapes that several members have, if the first member's name would be less clear.
const NAMES: [(&str, &str); 1] = [("node_pairs", "pair")];

/// Members that are null in every build for tests, with the type that they have otherwise.
const NULLABLE: [(&str, &str); 1] = [("commit", "string")];

/// Lists whose items have the same members in every kind of document, whichever of them were seen.
const ALIKE: &str = "warnings";

/// Lists of whole documents, by the name of the member.
const OF_DOCUMENTS: &str = "sections";

/// Members that distinguish kinds of documents of one experiment, with the suffix of the name of each kind.
const APART: [(&str, &str); 2] = [("plan", "_plan"), (OF_DOCUMENTS, "_of_a_run")];

/// Members that every document has, in this order, before its other data.
const ENVELOPE: [&str; 9] =
    ["schema", "tool", "experiment", "command", "started", "duration_s", "summary", "trust", "rows"];
/// Members that may be between those.
const BETWEEN: [&str; 2] = ["partial", "host"];

/// A kind of document: its experiment, and the member that distinguishes it from the others.
#[derive(Clone, PartialEq)]
struct Kind {
    experiment: String,
    suffix: &'static str,
}

/// All descriptions of every kind of document.
#[derive(Default)]
pub struct Documents {
    kinds: Vec<(Kind, Shape)>,
    fields: Fields,
}

impl Documents {
    /// Adds a document.
    pub fn add(&mut self, seen: &Seen) {
        let Seen::Object(members) = seen else { unreachable!("a document is an object") };
        let first = members.iter().map(|(key, ..)| *key).filter(|key| !BETWEEN.contains(key));
        assert!(
            first.take(ENVELOPE.len()).eq(ENVELOPE),
            "{:?}",
            members.iter().map(|(key, ..)| *key).collect::<Vec<_>>()
        );
        let named = |key| members.iter().find(|(other, ..)| *other == key).map(|(.., seen)| seen);
        let Some(Seen::Value(_, Some(experiment))) = named("experiment") else {
            panic!("a document says its experiment")
        };
        let apart = APART.iter().find(|(key, _)| named(key).is_some());
        let kind = Kind { experiment: experiment.clone(), suffix: apart.map_or("", |(_, suffix)| suffix) };
        let known = self.kinds.iter().position(|(other, _)| *other == kind);
        let at = known.unwrap_or_else(|| {
            self.kinds.push((kind, Shape::default()));
            self.kinds.len() - 1
        });
        self.kinds[at].1.add(seen);
        self.fields.add(seen);
    }

    /// Returns the schema, or every place that occurs too rarely in the documents.
    pub fn schema(&self) -> Result<String, Vec<String>> {
        let mut missing = Vec::new();
        let mut defs: Vec<(String, Json)> = Vec::new();
        for (Kind { experiment, suffix }, shape) in &self.kinds {
            let name = format!("{experiment}{suffix}");
            let mut whole = Maker { fields: &self.fields, missing: &mut missing }.object(&name, shape);
            for (key, word) in [("experiment", Json::text(experiment)), ("schema", Json::Bare("2".into()))] {
                assert!(CONSTANT.contains(&key));
                set_constant(&mut whole, key, word);
            }
            add_shown(&mut whole);
            defs.push((name, whole));
        }
        if !missing.is_empty() {
            return Err(missing);
        }
        let references = defs.iter().map(|(name, _)| reference(name)).collect();
        let shared = Shared::of(&mut defs);
        defs.extend(shared);
        let schema = Json::object([
            ("$schema", Json::text("https://json-schema.org/draft/2020-12/schema")),
            ("$id", Json::text("urn:latency-bench:schema:2")),
            ("title", Json::text("Results of latency-bench")),
            (
                "description",
                Json::text(
                    "Documents of `--format=json`. Generated from the descriptions in the program by `make \
                     golden`.",
                ),
            ),
            ("anyOf", Json::List(references)),
            ("$defs", Json::Object(defs)),
        ]);
        Ok(schema.lines(0) + "\n")
    }
}

fn reference(name: &str) -> Json {
    Json::object([("$ref", Json::Text(format!("#/$defs/{name}")))])
}

/// Adds the member that shows a document again; lines of JSON have none.
fn add_shown(schema: &mut Json) {
    let Json::Object(keywords) = schema else { return };
    let properties = keywords.iter_mut().find(|(name, _)| name == "properties");
    let Some((_, Json::Object(properties))) = properties else { return };
    let about = "Sentences, tables, pictures and samples of the result, with which `show` shows it as its run did, behind a \
                 checksum of all other members.";
    let member = Json::object([("description", Json::text(about)), ("type", Json::text("array"))]);
    properties.push(("shown".into(), member));
}

/// Replaces the type of a member by its only value.
fn set_constant(schema: &mut Json, key: &str, value: Json) {
    let Json::Object(keywords) = schema else { return };
    let properties = keywords.iter_mut().find(|(name, _)| name == "properties");
    let Some((_, Json::Object(properties))) = properties else { return };
    let Some((_, Json::Object(member))) = properties.iter_mut().find(|(name, _)| name == key) else { return };
    for (keyword, rule) in member {
        if keyword == "type" {
            (*keyword, *rule) = ("const".into(), value.clone());
        }
    }
}

/// The commands that describe saved points.
const COMMANDS: [&str; 6] = ["compare", "expect", "fit", "fleet", "report", "show"];

/// The columns that rows of saved results have, whatever their files have.
const ALWAYS: [Column; 4] = [HOST, STARTED, NS, NOT_MEASURED];

/// Returns the columns that a saved point may have: all of them if it is shown with its value, and otherwise those that
/// tell it apart.
fn columns(shape: &Shape) -> Vec<Field> {
    let has = |field: &Field| shape.members.iter().any(|member| member.field.identity() == field.identity());
    match has(&NS) {
        true => {
            let all = Column::all().filter(|column| !ALWAYS.contains(column)).map(|column| *column);
            all.flat_map(|field| [field].into_iter().chain(ends(field).into_iter().flatten())).collect()
        }
        false if FIELDS_OF_POINTS.iter().any(|field| field.key != "experiment" && has(field)) => {
            FIELDS_OF_POINTS.iter().copied().filter(|field| field.key != "experiment").collect()
        }
        false => Vec::new(),
    }
}

/// Makes schemas of shapes.
struct Maker<'s> {
    fields: &'s Fields,
    missing: &'s mut Vec<String>,
}

impl Maker<'_> {
    /// Returns the schema of objects.
    fn object(&mut self, place: &str, shape: &Shape) -> Json {
        let mut properties = Vec::new();
        for member in &shape.members {
            let key = member.field.key;
            let value = match key {
                OF_DOCUMENTS => Json::object([
                    ("type", Json::text("array")),
                    ("items", Json::object([("$ref", Json::text("#"))])),
                ]),
                _ => self.value(&format!("{place}/{key}"), Some(member.field), &member.shape),
            };
            let Json::Object(mut keywords) = value else { unreachable!("a schema is an object") };
            keywords.insert(0, ("description".into(), Json::text(member.field.about)));
            properties.push((key.to_string(), Json::Object(keywords)));
        }
        // A command shows points of any experiment.
        let is_of_points = COMMANDS.contains(&place.split('/').next().unwrap_or_default());
        let of_points = if is_of_points { columns(shape) } else { Vec::new() };
        for field in &of_points {
            if !shape.members.iter().any(|member| member.field.identity() == field.identity()) {
                let value = self.value(&format!("{place}/{}", field.key), Some(*field), &Shape::default());
                properties.push((field.key.to_string(), value));
            }
        }
        let may_be_missing =
            |field: Field| of_points.iter().any(|other| other.identity() == field.identity());
        let always = shape
            .members
            .iter()
            .filter(|member| member.count == shape.objects && !may_be_missing(member.field));
        Json::object([
            ("type", Json::text("object")),
            ("properties", Json::Object(properties)),
            ("required", Json::texts(always.map(|member| member.field.key))),
            ("additionalProperties", Json::Bare("false".into())),
        ])
    }

    /// Returns the schema of a value: its types here, and those of the same field elsewhere.
    fn value(&mut self, place: &str, field: Option<Field>, here: &Shape) -> Json {
        let nothing = Shape::default();
        let fields = self.fields;
        let elsewhere = field.and_then(|field| fields.of(field)).unwrap_or(&nothing);
        let here = if field.is_some_and(|field| field.key == ALIKE) { elsewhere } else { here };
        self.either(place, field, [here, elsewhere])
    }

    /// Returns the schema of the types here, and of types that were seen elsewhere.
    fn either(&mut self, place: &str, field: Option<Field>, both: [&Shape; 2]) -> Json {
        let mut ways: Vec<Json> = self.single(place, field, both).into_iter().collect();
        if both.iter().any(|shape| shape.names) {
            ways.push(Json::object([
                ("type", Json::text("object")),
                ("additionalProperties", Json::object([("type", Json::text("string"))])),
            ]));
        } else if let Some(shape) = both.into_iter().find(|shape| shape.objects > 0) {
            ways.push(self.object(place, shape));
        }
        if both.iter().any(|shape| shape.lists > 0) {
            let items = both.map(|shape| shape.items.as_deref());
            match items[0].or(items[1]) {
                Some(first) => {
                    let other = items[1].unwrap_or(first);
                    let items = self.either(&format!("{place}/0"), None, [first, other]);
                    ways.push(Json::object([("type", Json::text("array")), ("items", items)]));
                }
                None => self.missing.push(format!("{place}: no scene has an item")),
            }
        }
        match ways.len() {
            1 => ways.remove(0),
            _ => Json::object([("anyOf", Json::List(ways))]),
        }
    }

    /// Returns the schema of single values.
    fn single(&mut self, place: &str, field: Option<Field>, both: [&Shape; 2]) -> Option<Json> {
        let [here, elsewhere] = both;
        let mut types: Vec<&str> = here.types.union(&elsewhere.types).copied().collect();
        if types.contains(&"number") {
            types.retain(|name| *name != "integer");
        }
        let nullable = NULLABLE.iter().find(|(key, _)| field.is_some_and(|field| field.key == *key));
        types.splice(0..0, nullable.map(|(_, kind)| *kind));
        if types == ["null"] && both.iter().all(|shape| shape.objects + shape.lists == 0) {
            self.missing.push(format!("{place}: null in every scene"));
        }
        let named = || WORDS.iter().filter(|(key, _)| field.is_some_and(|field| field.key == *key));
        let mut seen = here.words.union(&elsewhere.words);
        let known = named().find(|(_, words)| seen.clone().all(|word| words.contains(&word.as_str())));
        if named().next().is_some() {
            let Some((_, words)) = known else { panic!("{place} has a word that is new: {:?}", seen.next()) };
            let null = types.contains(&"null").then(|| Json::Bare("null".into()));
            let words = words.iter().map(|word| Json::text(word)).chain(null).collect();
            return Some(Json::object([("enum", Json::List(words))]));
        }
        match types.as_slice() {
            [] => None,
            [one] => Some(Json::object([("type", Json::text(one))])),
            _ => Some(Json::object([("type", Json::texts(types))])),
        }
    }
}

/// Objects that are equal in several places, indexed by their text.
struct Shared {
    counts: BTreeMap<String, usize>,
    names: BTreeMap<String, String>,
    found: Vec<(String, Json)>,
}

impl Shared {
    /// Replaces objects that occur more than once by references, and returns their definitions.
    fn of(defs: &mut [(String, Json)]) -> Vec<(String, Json)> {
        let taken = defs.iter().map(|(name, _)| (format!("{name} itself"), name.clone())).collect();
        let mut shared = Shared { counts: BTreeMap::new(), names: taken, found: Vec::new() };
        for (_, schema) in defs.iter() {
            shared.count(schema);
        }
        for (_, schema) in defs.iter_mut() {
            shared.within(schema, "document");
        }
        shared.found
    }

    fn count(&mut self, schema: &Json) {
        if schema.get("properties").is_some() {
            *self.counts.entry(schema.line_of_object()).or_default() += 1;
        }
        match schema {
            Json::Object(members) => members.iter().for_each(|(_, member)| self.count(member)),
            Json::List(items) => items.iter().for_each(|item| self.count(item)),
            Json::Text(_) | Json::Bare(_) => {}
        }
    }

    /// Replaces shared objects within a schema; `key` is the name of the member that it describes.
    fn within(&mut self, schema: &mut Json, key: &str) {
        match schema {
            Json::Object(keywords) => {
                for (keyword, rule) in keywords {
                    match (keyword.as_str(), rule) {
                        ("properties", Json::Object(properties)) => {
                            for (name, member) in properties {
                                self.replace(member, name);
                            }
                        }
                        ("items", rule) => self.replace(rule, key),
                        ("anyOf", Json::List(ways)) => ways.iter_mut().for_each(|way| self.replace(way, key)),
                        _ => {}
                    }
                }
            }
            Json::List(_) | Json::Text(_) | Json::Bare(_) => {}
        }
    }

    fn replace(&mut self, schema: &mut Json, key: &str) {
        let line = schema.line_of_object();
        let is_shared =
            schema.get("properties").is_some() && self.counts.get(&line).is_some_and(|count| *count > 1);
        if !is_shared {
            return self.within(schema, key);
        }
        let about = schema.get("description").cloned();
        let name = match self.names.get(&line) {
            Some(name) => name.clone(),
            None => {
                let free = |name: &String| self.names.values().all(|other| other != name);
                let own = NAMES.iter().find(|(first, _)| *first == key);
                let key = own.map_or(key, |(_, name)| name);
                let name = [key.to_string()]
                    .into_iter()
                    .chain((2..).map(|number| format!("{key}_{number}")))
                    .find(free)
                    .unwrap();
                self.names.insert(line, name.clone());
                let mut object = schema.clone();
                if let Json::Object(keywords) = &mut object {
                    keywords.retain(|(keyword, _)| keyword != "description");
                }
                self.within(&mut object, key);
                self.found.push((name.clone(), object));
                name
            }
        };
        let mut members = vec![("$ref".to_string(), Json::Text(format!("#/$defs/{name}")))];
        members.extend(about.map(|about| ("description".to_string(), about)));
        *schema = Json::Object(members);
    }
}

impl Json {
    /// Returns the schema on one line without the description of its member.
    fn line_of_object(&self) -> String {
        let Json::Object(keywords) = self else { return self.line() };
        Json::Object(keywords.iter().filter(|(name, _)| name != "description").cloned().collect()).line()
    }
}
