//! Curves of latency over bandwidth, from the outcomes of a run: one for each pair of nodes and kind of traffic.

use alloc::vec::Vec;

use latency_core::{Estimate, Interval, sort_by_key};

use super::load::{Curve, LoadLevel, Verdict, lines_in_flight};
use super::traffic::{limit, shares};
use latency_engine::result::{Measurement, Outcome, PlacedField, Point, RoundSeries, Traffic, Walk};
use latency_report::chart::vector;

/// One level of load, and its outcome.
#[derive(Clone, Copy, Debug)]
pub struct Step<'r> {
    /// Its index among the outcomes.
    index: usize,
    /// The outcome.
    pub outcome: &'r Outcome,
    /// Its measurement.
    pub measured: &'r Measurement,
    /// The number of generators.
    pub generators: u32,
    /// Its rate and latency.
    pub level: LoadLevel,
}

/// One curve, represented by the first of its outcomes with traffic from all generators.
#[derive(Clone, Debug)]
pub struct Loading<'r> {
    /// All outcomes of the run.
    outcomes: &'r [Outcome],
    /// The point of the outcome that represents the curve.
    pub point: Point,
    /// Its traffic: kind, nodes and footprint are the same in all outcomes.
    pub traffic: Traffic,
    /// The measured levels by offered load, idle first; levels without pacing come last, by the number of generators.
    pub steps: Vec<Step<'r>>,
    /// The curve through the levels of all generators.
    pub curve: Option<Curve>,
    /// The rate of all generators without pacing, or of fewer that deliver more beyond both intervals; `None` if it was
    /// not requested.
    pub limit: Option<BandwidthLimit>,
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
    /// Returns true if the generators are the limit, so that the memory may deliver more.
    pub const fn is_of_generators(&self) -> bool {
        matches!(self.verdict, Verdict::OneGenerator | Verdict::GeneratorsExhausted)
    }

    /// Returns a second number of generators with its rate, to be shown beside the limit: all generators if fewer
    /// reached it, else half of them.
    pub fn others(&self) -> Option<(u32, Estimate)> {
        match self.verdict {
            Verdict::OverSaturated => Some((self.all, self.whole)),
            _ => Some((self.all / 2, self.half?)),
        }
    }
}

/// Returns the curves of a report, in the order of their first points.
pub fn loadings(outcomes: &[Outcome]) -> Vec<Loading<'_>> {
    #[cfg(test)]
    super::drawn_tests::draws("loaded");
    let mut all: Vec<Loading<'_>> = Vec::new();
    for Outcome { point, .. } in outcomes {
        if let Walk::Loaded(traffic) = &point.walk
            && !all.iter().any(|known| known.has(point, traffic))
        {
            all.push(Loading::of(outcomes, *point, *traffic));
        }
    }
    all
}

/// Returns the bytes per second that generators delivered while a chain was walked.
pub fn delivered(traffic: &Traffic, series: &RoundSeries) -> Option<Estimate> {
    let found = series.delivered?;
    let of = |lines_per_ns: f64| traffic.kind.bytes_per_line() * 1e9 * lines_per_ns;
    let interval =
        found.interval.map(|interval| Interval { low: of(interval.low.max(0.0)), high: of(interval.high) });
    Some(Estimate { value: of(found.median), interval })
}

impl<'r> Loading<'r> {
    fn of(outcomes: &'r [Outcome], point: Point, traffic: Traffic) -> Loading<'r> {
        let mut loading = Loading { outcomes, point, traffic, steps: Vec::new(), curve: None, limit: None };
        let steps = outcomes.iter().enumerate().filter_map(|(index, outcome)| loading.step(index, outcome));
        loading.steps = vector(steps);
        sort_by_key(&mut loading.steps, |step| {
            let offered = step.level.offered.unwrap_or(f64::INFINITY);
            // Rates are positive, so that their bits have their order.
            (offered.to_bits(), step.generators, step.index)
        });
        let levels: Vec<LoadLevel> = vector(loading.levels().map(|step| step.level));
        loading.curve = Curve::of(&levels);
        loading.limit = loading.limit_of();
        loading
    }

    /// Returns the level of a measured outcome of this curve.
    fn step(&self, index: usize, outcome: &'r Outcome) -> Option<Step<'r>> {
        let measured = outcome.result.as_ref().ok()?;
        let latency = measured.series.nanoseconds.into();
        let (generators, level) = match &outcome.point.walk {
            Walk::Chain if self.is_of(&outcome.point) => (0, LoadLevel { latency, ..LoadLevel::NONE }),
            Walk::Loaded(traffic) if self.has(&outcome.point, traffic) => {
                let delivered = delivered(traffic, &measured.series)?;
                (traffic.generators, LoadLevel { offered: traffic.rate, delivered, latency })
            }
            _ => return None,
        };
        Some(Step { index, outcome, measured, generators, level })
    }

    /// Returns the levels of the curve; fewer generators without pacing only show the cause of the limit.
    pub fn levels(&self) -> impl Iterator<Item = &Step<'r>> + Clone {
        self.steps.iter().filter(|step| self.is_level(step))
    }

    /// Returns the lowest latency and the fastest level, if idle memory is slower than that level.
    pub fn slow_idle(&self) -> Option<(f64, LoadLevel)> {
        let curve = self.curve.as_ref()?;
        Some((curve.lowest.value, curve.fastest?))
    }

    /// Returns whether a step is a level of the curve.
    pub fn is_level(&self, step: &Step<'_>) -> bool {
        step.level.offered.is_some() || step.generators == self.traffic.generators
    }

    /// Returns the bandwidth at which latency reaches a multiple of the lowest one; `None` if the generators end the
    /// curve, or if that bandwidth is not known.
    pub fn knee(&self, ratio: f64) -> Option<Estimate> {
        self.limit.filter(|limit| !limit.is_of_generators())?;
        self.curve.as_ref()?.knee(ratio)
    }

    fn limit_of(&self) -> Option<BandwidthLimit> {
        let unpaced = self.steps.iter().filter(|step| step.level.offered.is_none());
        let rates = unpaced.map(|step| (step.generators, step.level.delivered));
        let rates: Vec<_> = vector(rates.filter(|(_, rate)| rate.value.is_finite()));
        let of =
            |count: u32| rates.iter().find(|(generators, _)| *generators == count).map(|(_, rate)| *rate);
        let all = self.traffic.generators;
        let whole = of(all)?;
        let (generators, rate) = *rates.get(limit(&rates)?)?;
        let half = of(all / 2);
        let moved = half.map(|half| half.value);
        let verdict = match generators == all {
            true => Verdict::of_all(all as usize, &whole, moved),
            false => Verdict::of(all as usize, whole.value, moved),
        };
        Some(BandwidthLimit { rate, generators, all, whole, half, verdict })
    }

    /// Returns the lines that each generator has in flight, by Little's law with the latency of the chain; `None` if
    /// the generators do not read.
    pub fn in_flight(&self, step: &Step<'_>) -> Option<f64> {
        let (read, line) = (step.level.delivered.value * shares(self.traffic.kind).read, self.traffic.line);
        let lines = lines_in_flight(read, step.level.latency.value, step.generators.max(1) as usize, line);
        lines.filter(|lines| *lines > 0.0)
    }

    /// Returns the clock of the uncore that serves the generators' memory; `None` if it was not read. It is not read
    /// while idle memory of another node is measured.
    pub fn uncore_gigahertz(&self, step: &Step<'_>) -> Option<f64> {
        let own = step.generators > 0 || self.point.target == self.traffic.node;
        step.measured.series.uncore_gigahertz.filter(|_| own)
    }

    /// Returns the curve's outcomes with traffic.
    pub fn loaded(&self) -> impl Iterator<Item = &'r Outcome> + use<'_, 'r> {
        self.outcomes.iter().filter(|outcome| match &outcome.point.walk {
            Walk::Loaded(traffic) => self.has(&outcome.point, traffic),
            _ => false,
        })
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
