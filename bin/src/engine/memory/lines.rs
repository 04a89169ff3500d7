//! The place of lines that several CPUs use: partners are brought to their CPUs, and the lines go to and fro.

use crate::engine::memory::pieces::lines_of;
use crate::engine::memory::placement::Witness;
use crate::engine::memory::{idle_until, ProvenPlace};
use crate::engine::seam::{Place, Walker};
use crate::engine::stopwatch::Stopwatch;
use crate::engine::threads::partners::driver::Partners;
use crate::error::Failure;
use crate::result::{PerLine, Point};

/// The lines between CPUs.
pub struct LinesPlace<'x> {
    /// The threads on other CPUs.
    pub partners: Partners<'x>,
    /// The stopwatch of this thread.
    pub watch: Stopwatch,
}

impl Place for LinesPlace<'_> {
    fn with_chain(
        &mut self,
        index: usize,
        point: &Point,
        _: u64,
        walker: &mut Walker<'_>,
    ) -> Result<(), Failure<'static>> {
        self.watch.go_to(point.cpu)?;
        self.partners.visit(&self.watch, index, point, walker)
    }

    fn pause(&mut self, until_ns: f64) -> Result<(), Failure<'static>> {
        idle_until(until_ns)
    }
}

impl ProvenPlace for LinesPlace<'_> {
    fn witnesses(&self, point: &Point) -> Option<(Witness, Option<Witness>)> {
        let [first, second] = lines_of(point).map(|home| Some(self.partners.sites().find(&home?)?.witness));
        match point.walk.ping_pong() {
            Some(_) => Some((first?, Some(second?))),
            None => Some((first?, None)),
        }
    }

    fn moves(&self) -> u64 {
        self.watch.moves()
    }

    fn per_line(&mut self, index: usize, point: &Point) -> Option<PerLine> {
        self.partners.found(index, point)
    }
}
