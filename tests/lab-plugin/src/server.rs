//! Memory that serves one line at a time: computes the wait of a line for the ones before it.
//!
//! Each node with memory has a server, and all loads between nodes may instead have a common one, the link.
//! Lines are served in the order in which they are shown. The caller passes all times: nothing here reads a
//! clock.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::memory::Pair;

/// Growth of a server's time when too many lines wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Congestion {
    /// Number of waiting lines above which the server slows down.
    pub lines: u64,
    /// Added share of the server's time.
    pub share: f64,
}

/// Speed of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Service {
    /// Ticks of a line; with 0, lines never wait.
    pub ticks: u64,
    /// Slowdown by too many lines.
    pub congestion: Option<Congestion>,
}

/// The time in which a server serves a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Beginning.
    pub start: u64,
    /// End.
    pub end: u64,
}

impl Service {
    /// Returns the slot of a line that arrives at `arrival` when all lines before it are done at `free_at`.
    #[must_use]
    pub fn slot(&self, free_at: u64, arrival: u64) -> Slot {
        if self.ticks == 0 {
            return Slot { start: arrival, end: arrival };
        }
        let start = arrival.max(free_at);
        let waiting = (start - arrival).checked_div(self.ticks).unwrap_or(0);
        let ticks = match self.congestion {
            Some(Congestion { lines, share }) if waiting > lines => {
                (self.ticks as f64 * (1.0 + share)).round() as u64
            }
            _ => self.ticks,
        };
        Slot { start, end: start.saturating_add(ticks) }
    }
}

/// The purpose of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A read by a generator.
    Read,
    /// A write by a generator.
    Write,
    /// A hop of a chase.
    Hop,
    /// A prefetch.
    Prefetch,
}

/// Numbers of served lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Read by generators.
    pub read: u64,
    /// Written by generators.
    pub written: u64,
    /// Hops of chases.
    pub hops: u64,
    /// Brought by prefetchers.
    pub prefetched: u64,
}

impl Lines {
    /// Returns the lines served since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Lines) -> Lines {
        Lines {
            read: self.read - earlier.read,
            written: self.written - earlier.written,
            hops: self.hops - earlier.hops,
            prefetched: self.prefetched - earlier.prefetched,
        }
    }
}

/// The place of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The memory of a node.
    Node(u32),
    /// All loads and stores between nodes.
    Link,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Node(node) => write!(out, "node {node}"),
            Place::Link => write!(out, "link"),
        }
    }
}

/// One server, common to all virtual CPUs.
#[derive(Debug)]
struct Server {
    place: Place,
    service: Service,
    free_at: AtomicU64,
    read: AtomicU64,
    written: AtomicU64,
    hops: AtomicU64,
    prefetched: AtomicU64,
}

impl Server {
    fn new(place: Place, service: Service) -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            place,
            service,
            free_at: zero(),
            read: zero(),
            written: zero(),
            hops: zero(),
            prefetched: zero(),
        }
    }

    fn serve(&self, request: Request, arrival: u64) -> Slot {
        let count = match request {
            Request::Read => &self.read,
            Request::Write => &self.written,
            Request::Hop => &self.hops,
            Request::Prefetch => &self.prefetched,
        };
        count.fetch_add(1, Ordering::Relaxed);
        if self.service.ticks == 0 {
            return self.service.slot(0, arrival);
        }
        let mut free_at = self.free_at.load(Ordering::Relaxed);
        loop {
            let slot = self.service.slot(free_at, arrival);
            match self.free_at.compare_exchange_weak(free_at, slot.end, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return slot,
                Err(other) => free_at = other,
            }
        }
    }

    fn lines(&self) -> Lines {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Lines {
            read: of(&self.read),
            written: of(&self.written),
            hops: of(&self.hops),
            prefetched: of(&self.prefetched),
        }
    }
}

/// All servers of a machine.
#[derive(Debug, Default)]
pub struct Servers(Vec<Server>);

impl Servers {
    /// Makes the servers of the memory of `nodes`, and the link's if there is one. A place that is not among
    /// `given` delays no line. Of several for a place the last one counts.
    ///
    /// # Errors
    ///
    /// The first given node that has no memory.
    pub fn new(nodes: &[u32], given: &[(Place, Service)]) -> Result<Self, String> {
        let find = |place| given.iter().rev().find(|(other, _)| *other == place).map(|(_, service)| *service);
        let mut places: Vec<Place> = Vec::new();
        for place in nodes.iter().map(|&node| Place::Node(node)) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        if let Some((place, _)) =
            given.iter().find(|(place, _)| *place != Place::Link && !places.contains(place))
        {
            return Err(format!("a server of {place}, which has no memory"));
        }
        let server = |place| Server::new(place, find(place).unwrap_or_default());
        let mut servers: Vec<Server> = places.into_iter().map(server).collect();
        servers.extend(find(Place::Link).map(|service| Server::new(Place::Link, service)));
        Ok(Self(servers))
    }

    fn find(&self, pair: Pair) -> Option<&Server> {
        let find = |place| self.0.iter().find(|server| server.place == place);
        let link = if pair.from == pair.to { None } else { find(Place::Link) };
        link.or_else(|| find(Place::Node(pair.to)))
    }

    /// Serves a line between the nodes of `pair` that arrives at `arrival`.
    pub fn serve(&self, pair: Pair, request: Request, arrival: u64) -> Slot {
        self.find(pair).map_or(Slot { start: arrival, end: arrival }, |server| server.serve(request, arrival))
    }

    /// Returns the ticks for which a line between the nodes of `pair` would wait at `arrival`, without
    /// sending one.
    #[must_use]
    pub fn backlog(&self, pair: Pair, arrival: u64) -> u64 {
        self.find(pair).map_or(0, |server| server.free_at.load(Ordering::Relaxed).saturating_sub(arrival))
    }

    /// Returns true if any server needs time.
    #[must_use]
    pub fn are_busy(&self) -> bool {
        self.0.iter().any(|server| server.service.ticks > 0)
    }

    /// Returns the lines that each server has served so far.
    #[must_use]
    pub fn lines(&self) -> Vec<(Place, Lines)> {
        self.0.iter().map(|server| (server.place, server.lines())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Generator;

    const LOCAL: Pair = Pair { from: 0, to: 0, ticks: 900 };
    const REMOTE: Pair = Pair { from: 0, to: 1, ticks: 1900 };

    fn service(ticks: u64) -> Service {
        Service { ticks, congestion: None }
    }

    #[test]
    fn lines_wait_for_earlier_lines() {
        let servers = Servers::new(&[0, 1], &[(Place::Node(0), service(100))]).unwrap();
        let serve = |pair, arrival| servers.serve(pair, Request::Read, arrival);
        assert_eq!(serve(LOCAL, 1000), Slot { start: 1000, end: 1100 });
        assert_eq!(serve(LOCAL, 1010), Slot { start: 1100, end: 1200 });
        assert_eq!(serve(LOCAL, 1500), Slot { start: 1500, end: 1600 });
        assert_eq!(serve(REMOTE, 1500), Slot { start: 1500, end: 1500 }, "without a server no line waits");
        let lines = |read| Lines { read, ..Lines::default() };
        assert_eq!(servers.lines(), [(Place::Node(0), lines(3)), (Place::Node(1), lines(1))]);
    }

    #[test]
    fn the_link_serves_all_lines_between_nodes() {
        let given = [(Place::Node(1), service(10)), (Place::Link, service(100))];
        let servers = Servers::new(&[0, 1, 0], &given).unwrap();
        assert_eq!(servers.serve(REMOTE, Request::Hop, 0), Slot { start: 0, end: 100 });
        let back = Pair { from: 1, to: 0, ticks: 5 };
        assert_eq!(servers.serve(back, Request::Write, 0), Slot { start: 100, end: 200 });
        let own = Pair { from: 1, to: 1, ticks: 5 };
        assert_eq!(servers.serve(own, Request::Read, 0), Slot { start: 0, end: 10 });
        let places: Vec<Place> = servers.lines().into_iter().map(|(place, _)| place).collect();
        assert_eq!(places, [Place::Node(0), Place::Node(1), Place::Link]);
        assert_eq!(servers.lines()[2].1, Lines { written: 1, hops: 1, ..Lines::default() });
        assert!(Servers::new(&[0], &[(Place::Node(7), service(1))]).unwrap_err().contains("node 7"));
    }

    #[test]
    fn service_slows_down_with_a_long_queue() {
        let service = Service { ticks: 100, congestion: Some(Congestion { lines: 4, share: 0.5 }) };
        assert_eq!(service.slot(400, 0), Slot { start: 400, end: 500 });
        assert_eq!(service.slot(499, 0), Slot { start: 499, end: 599 });
        assert_eq!(service.slot(500, 0), Slot { start: 500, end: 650 });
    }

    // Lines arrive at random, at a share of the server's capacity. Their mean wait is half of that share over
    // the remaining share (M/D/1).
    #[test]
    fn random_lines_wait_as_theory_predicts() {
        let mut random = Generator(5);
        for load in [0.2, 0.5, 0.8] {
            let servers = Servers::new(&[0], &[(Place::Node(0), service(1000))]).unwrap();
            let (mut now, mut waited, count) = (0.0, 0.0, 200_000);
            for _ in 0..count {
                let uniform = (random.draw() >> 11) as f64 / (1_u64 << 53) as f64;
                now += -(1.0 - uniform).ln() * 1000.0 / load;
                let arrival = now as u64;
                waited += (servers.serve(LOCAL, Request::Read, arrival).start - arrival) as f64;
            }
            let mean = waited / f64::from(count) / 1000.0;
            let theory = load / (2.0 * (1.0 - load));
            assert!((mean - theory).abs() < 0.05, "{load}: {mean} for {theory}");
        }
    }

    #[test]
    fn lines_of_many_threads_are_served_one_by_one() {
        let servers = Servers::new(&[0], &[(Place::Node(0), service(7))]).unwrap();
        let mut starts = std::thread::scope(|scope| {
            let serve = || (0..1000).map(|_| servers.serve(LOCAL, Request::Hop, 0).start).collect::<Vec<_>>();
            let threads = [scope.spawn(serve), scope.spawn(serve), scope.spawn(serve)];
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        starts.sort_unstable();
        assert!((0_u64..3000).map(|line| line * 7).eq(starts));
    }
}
