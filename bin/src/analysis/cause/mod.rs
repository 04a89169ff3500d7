//! The likely cause of a difference between two results, by its signature: the facts that moved and those that stayed
//! the same.
//!
//! A wrong name is worse than none. So every rule demands evidence of both kinds, a single number never names a cause,
//! and of several causes that fit none is named.

mod facts;
mod rules;

pub use facts::{CACHES, Fact, SavedFacts};
pub use rules::{CauseEvidence, LikelyCause, find, of_matrix};
