//! The trust in a whole report: its reasons, each with the number of chapters that share it.

use core::mem::swap;

use crate::describe::trust;
use crate::warning::{Warning, Warnings};

/// Maximum number of reasons; the warnings of the chapters contain all of them.
const MOST: usize = 3;

/// A reason for the trust in a report.
#[derive(Clone, Copy, Debug)]
pub struct SharedReason<'w> {
    /// The worst warning of its kind in all chapters.
    pub worst: &'w Warning,
    /// The number of chapters with a warning of this kind.
    pub chapters: usize,
}

/// The trust in a report, which is the trust in its worst chapter.
pub struct WholeTrust<'w> {
    /// The trust in one word.
    pub level: &'static str,
    /// The reasons for it, those of the most chapters first.
    pub reasons: [Option<SharedReason<'w>>; MOST],
    /// The number of further reasons.
    pub more: usize,
    /// The number of chapters.
    pub chapters: usize,
    /// True if the trust in every chapter is the same.
    pub is_shared: bool,
}

impl<'w> WholeTrust<'w> {
    /// Returns the trust in a report: `chapters` are the warnings of each chapter, `warnings` those of all together.
    #[must_use]
    pub fn of<'c>(
        chapters: impl Iterator<Item = &'c Warnings> + Clone,
        warnings: &'w Warnings,
    ) -> WholeTrust<'w> {
        let level = trust::level(warnings);
        let mut found = WholeTrust {
            level,
            reasons: [None; MOST],
            more: warnings.dropped(),
            chapters: chapters.clone().count(),
            is_shared: chapters.clone().all(|chapter| trust::level(chapter) == level),
        };
        let groups = warnings.groups().map(|group| group.worst);
        for worst in groups.filter(|worst| worst.severity().name() == level) {
            let shares = |warnings: &Warnings| warnings.iter().any(|other| other.code() == worst.code());
            let chapters = chapters.clone().filter(|chapter| shares(chapter)).count();
            let mut next = Some(SharedReason { worst, chapters });
            for slot in &mut found.reasons {
                let count = |reason: &Option<SharedReason<'_>>| reason.map_or(0, |reason| reason.chapters);
                if count(slot) < count(&next) {
                    swap(slot, &mut next);
                }
            }
            found.more += usize::from(next.is_some());
        }
        found
    }
}
