//! A JSON document as a tree: parsed once, then read member by member, in any order.
//!
//! A node has eight bytes and no text of its own, because a document may have millions of values: a value is decoded when
//! it is read. The tree keeps the first defect that a reader finds, so that the reader goes on without a value. This module
//! depends on JSON, but not on results.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use latency_core::json::{Error, Event, NOT_A_RESULT, Reader, Str};
use latency_core::sort_by;

use super::chart::vector;
use super::escape::escaped;

/// A defect of a file, and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: u32,
    /// The defect, and its own remedy if it has one.
    pub what: &'static str,
}

impl Problem {
    /// Returns a problem in a line.
    pub const fn new(line: u32, what: &'static str) -> Problem {
        Problem { line, what }
    }
}

/// A parsed document.
pub struct JsonTree<'t> {
    text: &'t [u8],
    /// The values in the order of the text, each before its content. The name of a member is the node before its value.
    nodes: Vec<TreeNode>,
    /// The first defect that was found while values were read.
    defect: Cell<Option<Problem>>,
}

/// A value, or the name of a member.
#[derive(Clone, Copy)]
struct TreeNode {
    /// The offset of its first byte.
    start: u32,
    /// The index of the node behind its content; of a name, its length, or [`ESCAPED`].
    end: u32,
}

/// Mark of a name that has to be decoded.
const ESCAPED: u32 = u32::MAX;

impl<'t> JsonTree<'t> {
    /// Parses a document of at most 4 GiB.
    ///
    /// # Errors
    ///
    /// Text that is not JSON, and two members of one name in an object.
    pub fn of(text: &'t [u8]) -> Result<JsonTree<'t>, Problem> {
        let mut tree = JsonTree { text, nodes: Vec::new(), defect: Cell::new(None) };
        tree.parse().map_err(|Error { offset, what }| Problem::new(line_of(text, offset), what))?;
        Ok(tree)
    }

    fn parse(&mut self) -> Result<(), Error> {
        let mut reader = Reader::new(self.text);
        let mut open = Vec::new();
        loop {
            let event = reader.next_event()?;
            let (start, index) = (reader.begun() as u32, self.nodes.len() as u32);
            let end = match event {
                Event::End => return Ok(()),
                Event::EndObject | Event::EndArray => {
                    let begun: usize = open.pop().unwrap_or(0);
                    if let Some(node) = self.nodes.get_mut(begun) {
                        node.end = index;
                    }
                    self.is_unambiguous(begun)?;
                    continue;
                }
                Event::BeginObject | Event::BeginArray => {
                    open.push(self.nodes.len());
                    index
                }
                Event::Key(name) => name.unescaped().map_or(ESCAPED, |name| name.len() as u32),
                _ => index + 1,
            };
            self.nodes.push(TreeNode { start, end });
        }
    }

    /// Checks that no two members of the object at this index have the same name.
    fn is_unambiguous(&self, object: usize) -> Result<(), Error> {
        let places = JsonValue { tree: self, index: object }.inside(b'{', 1);
        let nodes = places.filter_map(|index| self.nodes.get(index - 1));
        let mut names: Vec<_> = vector(nodes.map(|node| (self.name(*node), node.start)));
        sort_by(&mut names, Ord::cmp);
        let is_twice = |pair: &&[(Option<&[u8]>, u32)]| match pair {
            [(Some(one), _), (other, _)] => Some(*one) == *other,
            _ => false,
        };
        match names.windows(2).find(is_twice) {
            Some(pair) => {
                let offset = pair.last().map_or(0, |(_, start)| *start as usize);
                Err(Error { offset, what: "duplicate key in an object" })
            }
            None => Ok(()),
        }
    }

    /// Returns the outermost value.
    pub fn root(&self) -> JsonValue<'_> {
        JsonValue { tree: self, index: 0 }
    }

    fn event(&self, node: Option<TreeNode>) -> Event<'_> {
        let text = node.and_then(|node| self.text.get(node.start as usize..)).unwrap_or(b"null");
        // The text was parsed before.
        Reader::new(text).next_event().unwrap_or(Event::Null)
    }

    /// Returns the text of a name between its quotes; `None` for one that has to be decoded.
    fn name(&self, node: TreeNode) -> Option<&[u8]> {
        let start = node.start as usize + 1;
        self.text.get(start..start.checked_add(node.end as usize)?)
    }

    fn decoded(&self, node: TreeNode) -> Cow<'_, str> {
        match self.event(Some(node)) {
            Event::String(name) => match name.unescaped() {
                Some(name) => Cow::Borrowed(name),
                None => Cow::Owned(name.chars().collect()),
            },
            _ => Cow::Borrowed(""),
        }
    }
}

/// A value of a tree; null if there is none.
#[derive(Clone, Copy)]
pub struct JsonValue<'j> {
    tree: &'j JsonTree<'j>,
    index: usize,
}

impl<'j> JsonValue<'j> {
    fn node(self) -> Option<TreeNode> {
        self.tree.nodes.get(self.index).copied()
    }

    fn first(self) -> Option<u8> {
        self.tree.text.get(self.node()?.start as usize).copied()
    }

    /// Returns the indices of the values that follow the first node inside of this value, each behind `before` nodes.
    fn inside(self, open: u8, before: usize) -> impl Iterator<Item = usize> + use<'j> {
        let nodes = &self.tree.nodes;
        let end = self.node().filter(|_| self.first() == Some(open)).map_or(0, |node| node.end as usize);
        let mut at = self.index + 1 + before;
        core::iter::from_fn(move || {
            let found = at;
            at = nodes.get(found).filter(|_| found < end)?.end as usize + before;
            Some(found)
        })
    }

    /// Returns the names and the values of the members; none of another value than an object.
    pub fn members(self) -> impl Iterator<Item = (Cow<'j, str>, JsonValue<'j>)> {
        let JsonValue { tree, .. } = self;
        self.inside(b'{', 1).filter_map(move |index| {
            Some((tree.decoded(*tree.nodes.get(index - 1)?), JsonValue { tree, index }))
        })
    }

    /// Returns the member of this name.
    pub fn member(self, name: &str) -> Option<JsonValue<'j>> {
        let JsonValue { tree, .. } = self;
        let is_called = |index: &usize| {
            tree.nodes.get(index - 1).is_some_and(|node| match tree.name(*node) {
                Some(own) => own == name.as_bytes(),
                None => tree.decoded(*node) == name,
            })
        };
        self.inside(b'{', 1).find(is_called).map(|index| JsonValue { tree, index })
    }

    /// Returns the member of this name; null if there is none.
    pub fn at(self, name: &str) -> JsonValue<'j> {
        self.member(name).unwrap_or(self.nothing())
    }

    /// Returns a value that is not in the document, and thus null.
    pub fn nothing(self) -> JsonValue<'j> {
        JsonValue { index: self.tree.nodes.len(), ..self }
    }

    /// Returns the elements; none of another value than a list.
    pub fn items(self) -> impl Iterator<Item = JsonValue<'j>> {
        self.inside(b'[', 0).map(move |index| JsonValue { index, ..self })
    }

    /// Returns the objects of a list, or of nothing, until a defect is found. Another value is a defect.
    pub fn objects(self) -> impl Iterator<Item = JsonValue<'j>> {
        if !self.is_null() && self.first() != Some(b'[') {
            self.refuse(NOT_A_RESULT);
        }
        if let Some(other) = self.items().find(|item| item.first() != Some(b'{')) {
            other.refuse("point is not an object");
        }
        self.items().take_while(|item| item.tree.defect.get().is_none())
    }

    /// Returns its content.
    pub fn event(self) -> Event<'j> {
        self.tree.event(self.node())
    }

    /// Returns whether it is null.
    pub fn is_null(self) -> bool {
        self.event() == Event::Null
    }

    /// Returns the number; `None` for null, and for another value, which is a defect.
    pub fn number(self) -> Option<f64> {
        match self.event() {
            Event::Number(number) => return Some(number),
            Event::Null => {}
            _ => self.refuse("not a number"),
        }
        None
    }

    /// Returns the number if it is a count, which has no point; `None` for another value.
    pub fn count(self) -> Option<u64> {
        let text = self.tree.text.get(self.node()?.start as usize..)?;
        let end = text.iter().position(|byte| b",]} \t\n\r".contains(byte)).unwrap_or(text.len());
        core::str::from_utf8(text.get(..end)?).ok()?.parse().ok()
    }

    /// Returns the string, if it is one.
    pub fn string(self) -> Option<Str<'j>> {
        match self.event() {
            Event::String(string) => Some(string),
            _ => None,
        }
    }

    /// Returns the string, escaped, so that it cannot control a terminal; an empty one for null, and for another value,
    /// which is a defect.
    pub fn text(self) -> String {
        match self.event() {
            Event::String(string) => return escaped(string.chars()),
            Event::Null => {}
            _ => self.refuse(NOT_A_RESULT),
        }
        String::new()
    }

    /// Keeps a defect of this value, unless another one was found before.
    pub fn refuse(self, what: &'static str) {
        self.refuse_as(|| self.problem(what));
    }

    /// Keeps a defect.
    pub fn refuse_as(self, problem: impl FnOnce() -> Problem) {
        if self.tree.defect.get().is_none() {
            self.tree.defect.set(Some(problem()));
        }
    }

    /// Keeps a defect of this value that was found elsewhere.
    pub fn check(self, found: Result<(), &'static str>) {
        if let Err(what) = found {
            self.refuse(what);
        }
    }

    /// Returns a defect of this value.
    pub fn problem(self, what: &'static str) -> Problem {
        let start = self.node().map_or(0, |node| node.start as usize);
        Problem::new(line_of(self.tree.text, start), what)
    }

    /// Checks that no defect was found in the document.
    ///
    /// # Errors
    ///
    /// The first defect.
    pub fn accepted(self) -> Result<(), Problem> {
        self.tree.defect.get().map_or(Ok(()), Err)
    }
}

/// Returns the line number of a byte, from 1.
pub fn line_of(text: &[u8], offset: usize) -> u32 {
    let before = text.get(..offset).unwrap_or(text);
    1 + before.iter().filter(|&&byte| byte == b'\n').count() as u32
}
