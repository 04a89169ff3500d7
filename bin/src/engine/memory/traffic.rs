//! The place of traffic: generators run over their memory, and this thread is one of them.

use super::{idle_until, ProvenPlace};
use crate::engine::generators::driver::Generators;
use crate::engine::placement::Witness;
use crate::engine::seam::{Place, Walker};
use crate::engine::stopwatch::Stopwatch;
use crate::engine::stream::Stream;
use crate::error::{Failure, PlacementError};
use crate::result::{Point, Walk};
use crate::sys::time;

/// The memory of generators, which all run.
pub struct TrafficPlace<'g> {
    /// The generators.
    pub generators: &'g Generators<'g>,
    /// The stopwatch of this thread.
    pub watch: Stopwatch,
}

impl Place for TrafficPlace<'_> {
    fn with_chain(
        &mut self,
        _: usize,
        point: &Point,
        _: u64,
        walker: &mut Walker<'_>,
    ) -> Result<(), Failure<'static>> {
        let TrafficPlace { generators, watch } = self;
        watch.go_to(point.cpu)?;
        let Walk::Traffic(traffic) = point.walk else { return Err(PlacementError::NothingToMeasure.into()) };
        generators.drive(point, &traffic, &mut || {
            let part = generators.own_part(&traffic)?;
            walker(&mut Stream::settled(watch, generators, traffic, part)?)
        })
    }

    fn now_ns(&self) -> f64 {
        time::monotonic_raw_ns() as f64
    }

    fn pause(&mut self, until_ns: f64) -> Result<(), Failure<'static>> {
        idle_until(until_ns)
    }
}

impl ProvenPlace for TrafficPlace<'_> {
    fn witnesses(&self, point: &Point) -> Option<(Witness, Option<Witness>)> {
        Some((self.generators.witness(point.walk.traffic()?)?, None))
    }

    fn moves(&self) -> u64 {
        self.watch.moves()
    }
}
