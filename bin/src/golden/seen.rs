//! What was seen of results: the shape of every object, list and value, over many descriptions.

use std::collections::{BTreeMap, BTreeSet};
use std::string::{String, ToString};
use std::vec::Vec;

use crate::report::document::{Document, Field, Part, Value};

/// One description as a tree.
pub enum Seen {
    /// A value of a JSON type; its text, where it is a word.
    Value(&'static str, Option<String>),
    /// Both ends of an interval.
    Interval,
    /// Named members.
    Object(Vec<(&'static Field, Seen)>),
    /// Texts under names of the user's.
    Names,
    /// Items.
    List(Vec<Seen>),
}

/// Takes a description down.
pub struct Tree {
    open: Vec<(Option<&'static Field>, Seen)>,
}

impl Tree {
    /// A document without members.
    pub fn new() -> Tree {
        Tree { open: [(None, Seen::Object(Vec::new()))].into() }
    }

    /// The whole document.
    pub fn finish(mut self) -> Seen {
        let (_, whole) = self.open.pop().unwrap();
        assert!(self.open.is_empty(), "a part has no end");
        whole
    }

    fn add(&mut self, field: Option<&'static Field>, seen: Seen) {
        match &mut self.open.last_mut().unwrap().1 {
            Seen::Object(members) => {
                let field = field.expect("a member of an object has a name");
                assert!(members.iter().all(|(other, _)| other.key() != field.key()), "{} twice", field.key());
                members.push((field, seen));
            }
            Seen::List(items) => items.push(seen),
            Seen::Value(..) | Seen::Interval | Seen::Names => unreachable!("it has no members of ours"),
        }
    }
}

impl Document for Tree {
    fn value(&mut self, field: &'static Field, value: Value<'_>) {
        let seen = match value {
            Value::None => Seen::Value("null", None),
            Value::Real(number) if !number.is_finite() => Seen::Value("null", None),
            Value::Flag(_) => Seen::Value("boolean", None),
            Value::Count(_) => Seen::Value("integer", None),
            Value::Real(_) => Seen::Value("number", None),
            Value::Interval(_) => Seen::Interval,
            Value::Word(word) => Seen::Value("string", Some(word.into())),
            Value::Raw(_) => Seen::Value("string", None),
            Value::Shown(shown) => Seen::Value("string", Some(shown.to_string())),
        };
        self.add(Some(field), seen);
    }

    fn named(&mut self, _: &str, _: Value<'_>) {
        self.open.last_mut().unwrap().1 = Seen::Names;
    }

    fn begin(&mut self, part: Part) {
        self.open.push(match part {
            Part::Object(field) => (Some(field), Seen::Object(Vec::new())),
            Part::List(field) | Part::Records(field) => (Some(field), Seen::List(Vec::new())),
            Part::Item => (None, Seen::Object(Vec::new())),
        });
    }

    fn end(&mut self) {
        let (field, seen) = self.open.pop().unwrap();
        self.add(field, seen);
    }
}

/// Everything seen in one place.
#[derive(Default)]
pub struct Shape {
    /// The types of single values.
    pub types: BTreeSet<&'static str>,
    /// The words of strings.
    pub words: BTreeSet<String>,
    /// An interval was there.
    pub interval: bool,
    /// Texts under names of the user's were there.
    pub names: bool,
    /// How many objects.
    pub objects: usize,
    /// Their members, in the order in which they came.
    pub members: Vec<Member>,
    /// How many lists.
    pub lists: usize,
    /// Their items, if there were any.
    pub items: Option<std::boxed::Box<Shape>>,
}

/// A member of objects.
pub struct Member {
    /// Its name and meaning.
    pub field: &'static Field,
    /// How many objects had it.
    pub count: usize,
    /// What it was.
    pub shape: Shape,
}

impl Shape {
    /// Adds what was seen in one description.
    pub fn add(&mut self, seen: &Seen) {
        match seen {
            Seen::Value(kind, word) => {
                self.types.insert(kind);
                self.words.extend(word.clone());
            }
            Seen::Interval => self.interval = true,
            Seen::Names => self.names = true,
            Seen::Object(members) => {
                self.objects += 1;
                for (field, seen) in members {
                    let known = self.members.iter().position(|member| member.field.key() == field.key());
                    let at = known.unwrap_or_else(|| {
                        self.members.push(Member { field, count: 0, shape: Shape::default() });
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

/// What was seen of each field, wherever it was: by its address.
#[derive(Default)]
pub struct Fields(BTreeMap<*const Field, Shape>);

impl Fields {
    /// Adds every field of a description.
    pub fn add(&mut self, seen: &Seen) {
        match seen {
            Seen::Object(members) => {
                for (field, seen) in members {
                    self.0.entry(*field).or_default().add(seen);
                    self.add(seen);
                }
            }
            Seen::List(items) => items.iter().for_each(|item| self.add(item)),
            Seen::Value(..) | Seen::Interval | Seen::Names => {}
        }
    }

    /// What was seen of one.
    pub fn of(&self, field: &'static Field) -> Option<&Shape> {
        self.0.get(&core::ptr::from_ref(field))
    }
}
