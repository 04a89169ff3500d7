//! Curves of latency over bandwidth, from the outcomes of a run: one for each pair of nodes and kind of traffic.

use latency_core::sort::sort_by;
use latency_core::stats::{Estimate, Interval};

use super::load::{Curve, LoadLevel, MOST_LEVELS, Verdict, lines_in_flight};
use super::traffic::{bytes_per_line, limit, shares};
use crate::result::{Measurement, Outcome, PlacedField, Point, RoundSeries, Traffic, Walk};

/// One level of load, and its outcome.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Its index among the outcomes.
    pub index: usize,
    /// The number of generators.
    pub generators: u32,
    /// Its rate and latency.
    pub level: LoadLevel,
}

impl Step {
    const NONE: Step = Step { index: 0, generators: 0, level: LoadLevel::NONE };

    fn offered(&self) -> f64 {
        self.level.offered.unwrap_or(f64::INFINITY)
    }
}

/// The subject of one curve, represented by the first of its outcomes with traffic from all generators.
#[derive(Clone, Copy, Debug)]
pub struct Loading<'r, 'a> {
    outcomes: &'r [Outcome<'a>],
    /// The point of that outcome.
    pub point: Point,
    /// Its traffic: kind, nodes and footprint are the same in all outcomes.
    pub traffic: Traffic,
}

/// The largest delivered bandwidth.
#[derive(Clone, Copy, Debug)]
pub struct BandwidthLimit {
    /// Bytes per second.
    pub rate: Estimate,
    /// The number of generators that delivered it.
    pub generators: u32,
    /// The number of all generators.
    pub all: u32,
    /// The rate that all of them delivered.
    pub whole: Estimate,
    /// The rate that half of all generators delivered.
    pub half: Option<Estimate>,
    /// The verdict on the limit.
    pub verdict: Verdict,
}

impl BandwidthLimit {
    /// Returns whether the generators are the limit, so that the memory may deliver more.
    pub const fn is_of_generators(&self) -> bool {
        matches!(self.verdict, Verdict::OneGenerator | Verdict::GeneratorsExhausted)
    }

    /// Returns another number of generators than that of the limit, and their rate: all generators if fewer reach the
    /// limit, half of them otherwise.
    pub fn others(&self) -> Option<(u32, Estimate)> {
        match self.verdict {
            Verdict::OverSaturated => Some((self.all, self.whole)),
            _ => Some((self.all / 2, self.half?)),
        }
    }
}

/// The levels of a curve.
pub struct Steps {
    steps: [Step; MOST_LEVELS],
    count: usize,
}

impl Steps {
    /// Returns the levels.
    pub fn as_slice(&self) -> &[Step] {
        self.steps.get(..self.count).unwrap_or_default()
    }

    fn push(&mut self, step: Step) {
        if let Some(slot) = self.steps.get_mut(self.count) {
            *slot = step;
            self.count += 1;
        }
    }
}

/// Returns the subjects of the curves of a report, in the order of their first points.
pub fn loadings<'r, 'a>(outcomes: &'r [Outcome<'a>]) -> impl Iterator<Item = Loading<'r, 'a>> + Clone {
    let key = |outcome: &Outcome<'_>| match outcome.point.walk {
        Walk::Loaded(traffic) => {
            Some((outcome.point.initiator, outcome.point.target, traffic.node, traffic.kind.name))
        }
        _ => None,
    };
    outcomes.iter().enumerate().filter_map(move |(index, outcome)| {
        let own = key(outcome)?;
        let known = outcomes.iter().take(index).any(|earlier| key(earlier) == Some(own));
        let traffic = *outcome.point.walk.traffic()?;
        (!known).then_some(Loading { outcomes, point: outcome.point, traffic })
    })
}

/// Returns the bytes per second that generators delivered while a chain was walked.
pub fn delivered(traffic: &Traffic, series: &RoundSeries) -> Option<Estimate> {
    let found = series.delivered?;
    let of = |lines_per_ns: f64| bytes_per_line(traffic.kind) * 1e9 * lines_per_ns;
    let interval =
        found.interval.map(|interval| Interval { low: of(interval.low.max(0.0)), high: of(interval.high) });
    Some(Estimate { value: of(found.median), interval })
}

impl<'r, 'a> Loading<'r, 'a> {
    /// Returns the measured levels by offered load, idle first; levels without pacing come last, by the number of
    /// generators.
    pub fn steps(&self) -> Steps {
        let mut all = Steps { steps: [Step::NONE; MOST_LEVELS], count: 0 };
        for (index, outcome) in self.outcomes.iter().enumerate() {
            let Ok(measured) = &outcome.result else { continue };
            let latency = Estimate::from(measured.series.nanoseconds);
            match outcome.point.walk {
                Walk::Chain if self.is_of(&outcome.point) => {
                    all.push(Step { index, level: LoadLevel { latency, ..LoadLevel::NONE }, ..Step::NONE });
                }
                Walk::Loaded(traffic) if self.has(&outcome.point, &traffic) => {
                    let Some(delivered) = delivered(&traffic, &measured.series) else { continue };
                    let level = LoadLevel { offered: traffic.rate, delivered, latency };
                    all.push(Step { index, generators: traffic.generators, level });
                }
                _ => {}
            }
        }
        let count = all.count;
        sort_by(all.steps.get_mut(..count).unwrap_or_default(), |one, other| {
            one.offered()
                .total_cmp(&other.offered())
                .then((one.generators, one.index).cmp(&(other.generators, other.index)))
        });
        all
    }

    /// Returns the curve through the levels of all generators.
    pub fn curve(&self) -> Option<Curve> {
        let (mut levels, mut count) = ([LoadLevel::NONE; MOST_LEVELS], 0);
        let steps = self.steps();
        for (slot, step) in levels.iter_mut().zip(steps.as_slice().iter().filter(|step| self.is_level(step)))
        {
            *slot = step.level;
            count += 1;
        }
        Curve::of(levels.get(..count)?)
    }

    /// Returns the lowest latency and the fastest level, if idle memory is slower than that level.
    pub fn slow_idle(&self) -> Option<(f64, LoadLevel)> {
        let curve = self.curve()?;
        Some((curve.lowest.value, curve.fastest?))
    }

    /// Returns whether a step is a level of the curve; fewer generators without pacing only show the cause of the
    /// limit.
    pub fn is_level(&self, step: &Step) -> bool {
        step.level.offered.is_some() || step.generators == self.traffic.generators
    }

    /// Returns the bandwidth at which latency reaches a multiple of the lowest one; `None` if the generators end the
    /// curve, or if that bandwidth is not known.
    pub fn knee(&self, ratio: f64) -> Option<Estimate> {
        if self.limit()?.is_of_generators() {
            return None;
        }
        self.curve()?.knee(ratio)
    }

    /// Returns the rate of all generators without pacing, or of fewer that deliver more beyond both intervals, with the
    /// number of generators and the rate of half of all generators. `None` if it was not requested.
    pub fn limit(&self) -> Option<BandwidthLimit> {
        let steps = self.steps();
        let is_unpaced =
            |step: &&Step| step.level.offered.is_none() && step.level.delivered.value.is_finite();
        let unpaced = || steps.as_slice().iter().filter(is_unpaced);
        let all = unpaced().find(|step| step.generators == self.traffic.generators)?;
        let of = |step: &Step| (step.generators, step.level.delivered);
        let best = unpaced().nth(limit(&|place| unpaced().nth(place).map(of))?)?;
        let half = unpaced().find(|step| step.generators == all.generators / 2);
        let half = half.map(|step| step.level.delivered);
        let (cores, rate) = (all.generators as usize, &all.level.delivered);
        let moved = half.map(|half| half.value);
        let verdict = match best.generators == all.generators {
            true => Verdict::of_all(cores, rate, moved),
            false => Verdict::of(cores, rate.value, moved),
        };
        Some(BandwidthLimit {
            rate: best.level.delivered,
            generators: best.generators,
            all: all.generators,
            whole: all.level.delivered,
            half,
            verdict,
        })
    }

    /// Returns the lines that each generator has in flight, by Little's law with the latency of the chain; `None` if
    /// the generators do not read.
    pub fn in_flight(&self, step: &Step) -> Option<f64> {
        let (read, line) = (step.level.delivered.value * shares(self.traffic.kind).read, self.traffic.line);
        let lines = lines_in_flight(read, step.level.latency.value, step.generators.max(1) as usize, line);
        lines.filter(|lines| *lines > 0.0)
    }

    /// Returns the clock of the uncore that serves the generators' memory; `None` if it was not read. It is not read
    /// while idle memory of another node is measured.
    pub fn uncore_gigahertz(&self, step: &Step) -> Option<f64> {
        let own = step.generators > 0 || self.point.target == self.traffic.node;
        self.measured(step)?.series.uncore_gigahertz.filter(|_| own)
    }

    /// Returns the curve's outcomes with traffic.
    pub fn loaded(&self) -> impl Iterator<Item = &'r Outcome<'a>> + use<'_, 'r, 'a> {
        self.outcomes.iter().filter(|outcome| match &outcome.point.walk {
            Walk::Loaded(traffic) => self.has(&outcome.point, traffic),
            _ => false,
        })
    }

    /// Returns the measurement of a step.
    pub fn measured(&self, step: &Step) -> Option<&'r Measurement> {
        self.outcomes.get(step.index)?.result.as_ref().ok()
    }

    /// Returns the memory of the generators: the proof of its placement, and the pages.
    pub fn field(&self) -> Option<PlacedField> {
        self.loaded().find_map(|outcome| outcome.result.as_ref().ok()?.traffic)
    }

    fn is_of(&self, point: &Point) -> bool {
        (point.initiator, point.target) == (self.point.initiator, self.point.target)
    }

    fn has(&self, point: &Point, traffic: &Traffic) -> bool {
        self.is_of(point) && (traffic.node, traffic.kind.name) == (self.traffic.node, self.traffic.kind.name)
    }
}
