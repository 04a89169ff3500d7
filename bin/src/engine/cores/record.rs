//! The values of each line in each window: a place of memory decides for good what a line takes, and a window that is a
//! median over lines no longer tells.

use latency_core::arch::Delays;
use latency_core::cores::over_lines;

use crate::plan::budget::Budget;
use crate::result::{PerLine, Point};
use crate::sys::errno::Errno;
use crate::sys::table::Table;

/// What was noted of one point.
#[derive(Clone, Copy)]
struct Course {
    /// Whole windows.
    windows: usize,
    /// Messages to the partner and back, in ticks of the time-stamp counter.
    ways: [i64; 2],
    /// The shortest of all.
    least: i64,
    /// The messages of each way.
    messages: u64,
}

/// The windows of every point, line by line.
pub struct Record {
    courses: Table<Course>,
    samples: Table<f64>,
    scratch: Table<f64>,
    /// The most windows of a point, and the most lines.
    room: usize,
    lines: usize,
}

impl Record {
    /// Room for all windows of `points`.
    ///
    /// # Errors
    ///
    /// That of mapping it.
    pub fn new(points: &[Point], budget: &Budget) -> Result<Record, Errno> {
        let exchanges = points.iter().filter_map(|point| point.walk.ping_pong());
        let lines = exchanges.map(|pair| pair.lines as usize).max().unwrap_or(0);
        let room = budget.room(points.len());
        let course = Course { windows: 0, ways: [0; 2], least: i64::MAX, messages: 0 };
        Ok(Record {
            courses: Table::filled(points.len(), course)?,
            samples: Table::zeroed(points.len() * room * lines)?,
            scratch: Table::zeroed(room + lines)?,
            room,
            lines,
        })
    }

    /// Notes a window of the `index`-th point.
    pub fn note(&mut self, index: usize, window: &[f64]) {
        let Some(course) = self.courses.get_mut(index) else { return };
        let from = index * self.room * self.lines + course.windows * window.len();
        if course.windows < self.room {
            if let Some(slots) = self.samples.get_mut(from..from + window.len()) {
                slots.copy_from_slice(window);
                course.windows += 1;
            }
        }
    }

    /// Notes messages to the partner and back, as many of either.
    pub fn messages(&mut self, index: usize, there: Delays, back: Delays, messages: u64) {
        if let Some(course) = self.courses.get_mut(index) {
            course.ways = [course.ways[0] + there.sum, course.ways[1] + back.sum];
            course.least = course.least.min(there.least).min(back.least);
            course.messages += messages;
        }
    }

    /// What the windows of a point say line by line; a tick takes `tick_ns`.
    pub fn found(&mut self, index: usize, point: &Point, tick_ns: f64) -> Option<PerLine> {
        let lines = point.walk.ping_pong()?.lines as usize;
        let course = self.courses.get(index)?;
        let from = index * self.room * self.lines;
        let samples = self.samples.get(from..from + course.windows * lines)?;
        let found = over_lines(samples, lines, &mut self.scratch)?;
        let synchronised = (course.messages > 0).then_some(course.least > 0);
        let ways_ns = course.ways.map(|ticks| ticks as f64 / course.messages.max(1) as f64 * tick_ns);
        Some(PerLine {
            fastest: found.fastest,
            slowest: found.slowest,
            synchronised,
            ways_ns: synchronised.filter(|synchronised| *synchronised).map(|_| ways_ns),
        })
    }
}
