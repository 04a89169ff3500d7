//! Lines between the cores of an imaginary machine: their latency by the resources that two CPUs share.

use latency_core::Interval;
use latency_core::cores::{Method, State, Walk as Access, lines::OfLine};
use latency_core::topology::Shared;

use super::numbers;
use latency_engine::result::{ClockOffset, LineLevel, Owned, PerLine, PingPong, Point, Walk};

/// Nanoseconds of one transfer by class, nearest first.
const WAYS: [f64; Shared::ALL.len()] = [6.2, 24.5, 48.0, 55.0, 81.0, 134.0];

/// Returns the nanoseconds of a point whose lines several CPUs use.
pub fn ns(point: &Point) -> Option<f64> {
    match point.walk {
        Walk::PingPong(PingPong { partner, class, method, .. }) => {
            let times = match method {
                Method::Cas => 1.0,
                Method::ReadCas => 1.6,
                Method::Flag | Method::Message => 1.9,
            };
            // The farther apart on the mesh, the longer.
            let apart = f64::from(partner.0 - point.cpu.0) * 0.4;
            Some((WAYS[class as usize] + apart) * times)
        }
        Walk::Owned(owned) => Some(access_ns(&owned, point)),
        _ => None,
    }
}

fn access_ns(owned: &Owned, point: &Point) -> f64 {
    let taken = if owned.access == Access::Own { 4.0 } else { 0.0 };
    let away = f64::from(u8::from(point.initiator != point.target)) * 22.0;
    let Some((_, class)) = owned.owner else {
        return taken + [1.35, 4.1, 21.0, 98.0][owned.level as usize];
    };
    let state = match owned.state {
        State::Modified => 1.0,
        State::Exclusive => 0.97,
        State::Shared => 0.6,
    };
    let deeper = if owned.level == LineLevel::L2 { 0.94 } else { 1.0 };
    taken + away + WAYS[class as usize] * state * deeper
}

/// Returns the differences between the lines of a point: the third line is farthest from both CPUs.
pub fn per_line(point: &Point, ns: f64, synchronised: bool) -> Option<PerLine> {
    let pair = point.walk.ping_pong()?;
    let spread = 1.0 + 0.02 * numbers::noise(u64::from(pair.partner.0) * 7 + u64::from(point.cpu.0));
    let messages = pair.method == Method::Message;
    // The counters of two sockets differ by 0.6 of a transfer, or by more than one.
    let share = match (synchronised, pair.class) {
        (false, _) => 1.7,
        (true, Shared::Machine) => 0.6,
        (true, _) => 0.01,
    };
    let apart_ns = ns * share;
    Some(PerLine {
        fastest: OfLine { line: 9, value: ns * 0.93 * spread },
        slowest: OfLine { line: 2, value: ns * 1.11 * spread },
        messages: messages.then_some(ClockOffset {
            apart_ns,
            interval: Some(Interval { low: apart_ns - 0.3, high: apart_ns + 0.4 }),
            in_order: synchronised,
        }),
    })
}
