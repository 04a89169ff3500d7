//! The shape of every object, list and value, collected over many descriptions.

use std::boxed::Box;
use std::collections::{BTreeMap, BTreeSet};
use std::format;
use std::panic::Location;
use std::string::String;
use std::sync::Mutex;
use std::vec::Vec;

use latency_report::document::ENDS;
use latency_report::{Field, Part, Shown, ShownPart, Value};

/// One description as a tree.
pub enum Seen {
    /// A value of a JSON type; its text, if it is a word.
    Value(&'static str, Option<String>),
    /// Members with their names.
    Object(Vec<(&'static str, Field, Seen)>),
    /// Texts under names that the user chose.
    Names,
    /// Items.
    List(Vec<Seen>),
}

/// Records a result as a tree.
pub struct Tree {
    open: Vec<(Option<Field>, Seen)>,
}

impl Tree {
    /// Returns the tree of a result.
    pub fn of(shown: &Shown) -> Seen {
        let mut tree = Tree { open: [(None, Seen::Object(Vec::new()))].into() };
        shown.entries().iter().for_each(|entry| tree.entry(entry));
        let (_, whole) = tree.open.pop().unwrap();
        assert!(tree.open.is_empty(), "a part has no end");
        whole
    }

    fn entry(&mut self, entry: &ShownPart) {
        match entry {
            ShownPart::Value(field, value) => {
                let parts = [**field].into_iter().chain(ends(**field).into_iter().flatten());
                for (field, value) in parts.zip(value.parts()) {
                    self.add(Some(field), single(value));
                }
            }
            ShownPart::Named(..) => self.open.last_mut().unwrap().1 = Seen::Names,
            ShownPart::Begin(part) => self.open.push(match part {
                Part::Object(field) => (Some(**field), Seen::Object(Vec::new())),
                Part::List(field) | Part::Records(field) => (Some(**field), Seen::List(Vec::new())),
                Part::Item => (None, Seen::Object(Vec::new())),
            }),
            ShownPart::End => {
                let (field, seen) = self.open.pop().unwrap();
                self.add(field, seen);
            }
            _ => {}
        }
    }

    fn add(&mut self, field: Option<Field>, seen: Seen) {
        match &mut self.open.last_mut().unwrap().1 {
            Seen::Object(members) => {
                let field = field.expect("a member of an object has a name");
                let key = field.key;
                assert!(members.iter().all(|(other, ..)| *other != key), "{key} twice");
                members.push((key, field, seen));
            }
            Seen::List(items) => items.push(seen),
            Seen::Value(..) | Seen::Names => unreachable!("it has no members of ours"),
        }
    }
}

/// Returns the fields of both ends of the interval of a field, if it has one.
pub fn ends(field: Field) -> Option<[Field; 2]> {
    static KNOWN: Mutex<BTreeMap<&str, [Field; 2]>> = Mutex::new(BTreeMap::new());
    let abouts = [
        "Lower end of the 95% confidence interval; null without one.",
        "Upper end of the 95% confidence interval; null without one.",
    ];
    let end = |place: usize| {
        let key: &str = Box::leak(format!("{}{}", field.key, ENDS[place]).into_boxed_str());
        Field::new(key, false, abouts[place])
    };
    let mut known = KNOWN.lock().unwrap();
    field.has_interval.then(|| *known.entry(field.key).or_insert_with(|| [end(0), end(1)]))
}

/// Returns the type of a value without its interval.
fn single(value: Value) -> Seen {
    match value {
        Value::None => Seen::Value("null", None),
        Value::Real(number) if !number.is_finite() => Seen::Value("null", None),
        Value::Flag(_) => Seen::Value("boolean", None),
        Value::Count(_) => Seen::Value("integer", None),
        Value::Real(_) | Value::Estimate(_) => Seen::Value("number", None),
        Value::Word(word) => Seen::Value("string", Some(word)),
        Value::Raw(_) => Seen::Value("string", None),
    }
}

/// Everything seen in one place.
#[derive(Default)]
pub struct Shape {
    /// The types of single values.
    pub types: BTreeSet<&'static str>,
    /// The words of strings.
    pub words: BTreeSet<String>,
    /// True if texts under names that the user chose were seen.
    pub names: bool,
    /// Number of objects.
    pub objects: usize,
    /// Their members, in the order of their first appearance.
    pub members: Vec<Member>,
    /// Number of lists.
    pub lists: usize,
    /// Their items, if there were any.
    pub items: Option<std::boxed::Box<Shape>>,
}

/// A member of objects.
pub struct Member {
    /// Its name.
    pub key: &'static str,
    /// Its name and meaning.
    pub field: Field,
    /// Number of objects that had it.
    pub count: usize,
    /// Shape of its values.
    pub shape: Shape,
}

impl Shape {
    /// Adds the shape of one description.
    pub fn add(&mut self, seen: &Seen) {
        match seen {
            Seen::Value(kind, word) => {
                self.types.insert(kind);
                self.words.extend(word.clone());
            }
            Seen::Names => self.names = true,
            Seen::Object(members) => {
                self.objects += 1;
                for (key, field, seen) in members {
                    let known = self.members.iter().position(|member| member.key == *key);
                    let at = known.unwrap_or_else(|| {
                        self.members.push(Member { key, field: *field, count: 0, shape: Shape::default() });
                        self.members.len() - 1
                    });
                    self.members[at].count += 1;
                    self.members[at].shape.add(seen);
                }
            }
            Seen::List(items) => {
                self.lists += 1;
                for item in items {
                    self.items.get_or_insert_default().add(item);
                }
            }
        }
    }
}

/// Shape of each field, wherever it was seen.
#[derive(Default)]
pub struct Fields(BTreeMap<(&'static Location<'static>, [&'static str; 2]), Shape>);

impl Fields {
    /// Adds every field of a description.
    pub fn add(&mut self, seen: &Seen) {
        match seen {
            Seen::Object(members) => {
                for (_, field, seen) in members {
                    self.0.entry(field.identity()).or_default().add(seen);
                    self.add(seen);
                }
            }
            Seen::List(items) => items.iter().for_each(|item| self.add(item)),
            Seen::Value(..) | Seen::Names => {}
        }
    }

    /// Returns the shape of one field.
    pub fn of(&self, field: Field) -> Option<&Shape> {
        self.0.get(&field.identity())
    }
}
