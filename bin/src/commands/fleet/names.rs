//! Things that occur repeatedly. Each is stored once and identified by a number. Their meaning does not matter here.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::hash::Hash;

use latency_core::hash::Fnv;

/// The number of a thing, from 0 in the order of first occurrence.
pub type Name = u32;
/// The number of the empty text.
pub const NONE: Name = 0;
/// Texts.
pub type Names = Numbered<String>;

/// Different things, each with a number.
#[derive(Default)]
pub struct Numbered<T> {
    things: Vec<T>,
    /// The hash table: numbers from 1; 0 is a free slot. Half of them are free.
    slots: Vec<Name>,
}

impl<T> Numbered<T> {
    /// Returns the number of a thing, which is added if it is new.
    pub fn number<Q: Hash + Eq + ToOwned<Owned = T> + ?Sized>(&mut self, thing: &Q) -> Name
    where
        T: Borrow<Q>,
    {
        let Numbered { things, slots } = self;
        let known = |number: Name| things.get(number as usize).map(Borrow::borrow);
        let hash_of = |number| known(number).map_or(0, |known| hash(0, known));
        let is_same = |number| known(number) == Some(thing);
        let number = place(slots, things.len(), hash(0, thing), &hash_of, &is_same);
        if number as usize == things.len() {
            things.push(thing.to_owned());
        }
        number
    }

    /// Returns a thing by its number.
    pub fn get(&self, number: Name) -> Option<&T> {
        self.things.get(number as usize)
    }

    /// Returns the number of different things.
    pub fn len(&self) -> usize {
        self.things.len()
    }
}

impl<T: Copy + Default> Numbered<T> {
    /// Returns a copy of a thing by its number.
    pub fn copied(&self, number: Name) -> T {
        self.get(number).copied().unwrap_or_default()
    }
}

impl Names {
    /// Returns a name by its number.
    pub fn name(&self, number: Name) -> &str {
        self.get(number).map_or("", String::as_str)
    }
}

/// Returns the number of a thing with a hash among `count` known ones; or else `count`, which gets a slot.
fn place(
    slots: &mut Vec<Name>,
    count: usize,
    hash: u64,
    hash_of: &dyn Fn(Name) -> u64,
    is_same: &dyn Fn(Name) -> bool,
) -> Name {
    if slots.len() <= 2 * count {
        *slots = vec![0; (4 * count + 64).next_power_of_two()];
        for known in 0..count {
            place(slots, known, hash_of(known as Name), hash_of, &|_| false);
        }
    }
    let mut place = (hash ^ hash >> 32) as usize;
    loop {
        place &= slots.len() - 1;
        match slots.get_mut(place) {
            Some(number @ 1..) if is_same(*number - 1) => return *number - 1,
            Some(slot @ 0) => {
                *slot = count as Name + 1;
                return count as Name;
            }
            _ => place += 1,
        }
    }
}

/// Returns the hash of a thing behind other things with this hash.
pub fn hash<Q: Hash + ?Sized>(before: u64, thing: &Q) -> u64 {
    let mut hash = Fnv(before);
    thing.hash(&mut hash);
    hash.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_has_one_number() {
        let (mut names, mut pairs) = (Names::default(), Numbered::default());
        let all: Vec<_> = (0..300_000).map(|number| std::format!("host-{number}")).collect();
        for round in 0..2 {
            for (index, name) in (0..).zip(&all) {
                assert_eq!(names.number(name.as_str()), index, "{round}");
                assert_eq!(pairs.number(&[index / 2, index % 2]), index, "{round}");
            }
        }
        assert_eq!((names.len(), pairs.get(7)), (all.len(), Some(&[3, 1])));
        assert_eq!(names.name(17), "host-17");
        let number = names.number("");
        assert!(names.name(number).is_empty());
        assert_eq!(names.name(1 << 20), "");
    }
}
