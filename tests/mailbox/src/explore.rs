//! Every execution of some threads.
//!
//! A thread is a function of the results of its accesses. To find its next access, the function is called, gets the results
//! so far, and is unwound at the first access without one. So the state of a thread is the list of its results, and two
//! executions that lead to the same state continue as one.
//!
//! Three rules keep the number of states small. At the end of a pass of a loop that waits
//! ([`spin_loop`](crate::shared::spin_loop)), the values that the thread has loaded since its last other access are
//! forgotten: they must have no effect but another pass. Accesses to cells are executed at once: their order makes no
//! difference, because a race is found by what a thread has seen. A thread that has ended is its results, and nothing else.

use crate::memory::{Answer, Memory, NAMES, Request, THREADS};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::iter::successors;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// Maximum number of states: threads that store in an endless loop have no end of states.
const MOST_STATES: usize = 100_000;

/// A thread: its accesses depend on nothing but the results of earlier ones.
pub type Body<'a> = &'a dyn Fn() -> Vec<u32>;

/// The results of all threads at their ends.
pub type Results = Vec<Vec<u32>>;

thread_local! {
    static REPLAY: RefCell<Replay> = const { RefCell::new(Replay { answers: Vec::new(), asked: None }) };
    /// Number of names given so far, and the number before the current exploration.
    static NAMED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

#[derive(Default)]
struct Replay {
    /// The results that are left, the next one last.
    answers: Vec<Answer>,
    asked: Option<Request>,
}

/// The payload that unwinds a thread at its next access.
struct Suspended;

/// The number of a word or a cell, which its first access gives.
pub(crate) struct Name(Cell<Option<usize>>);

impl Name {
    pub(crate) const fn new() -> Name {
        Name(Cell::new(None))
    }

    pub(crate) fn index(&self) -> usize {
        let (given, before) = NAMED.get();
        let name = self.0.get().unwrap_or(given);
        if name == given {
            self.0.set(Some(name));
            NAMED.set((given + 1, before));
        }
        let index = name.checked_sub(before).expect("a mailbox is used in one exploration only");
        assert!(index < NAMES, "too many words and cells");
        index
    }
}

/// Returns the result of an access of the calling thread, or unwinds the thread.
pub(crate) fn ask(request: Request) -> Answer {
    let answer = REPLAY.with_borrow_mut(|replay| {
        let answer = replay.answers.pop();
        if answer.is_none() {
            replay.asked = Some(request);
        }
        answer
    });
    answer.unwrap_or_else(|| resume_unwind(Box::new(Suspended)))
}

/// The next step of a thread.
#[derive(Clone, Debug)]
enum Next {
    Access(Request),
    End(Vec<u32>),
    Panic(String),
}

/// The results of a thread's accesses: one more than in another history.
struct History {
    before: Option<Position>,
    answer: Answer,
    next: Option<Next>,
}

/// Number of a history.
type Position = u32;

/// The histories of all threads. Equal histories have equal numbers.
#[derive(Default)]
struct Histories {
    all: Vec<History>,
    numbers: HashMap<(Position, Answer), Position>,
    /// One history of each thread for each of its results.
    ends: HashMap<(usize, Vec<u32>), Position>,
}

impl Histories {
    /// Returns the history of a thread before its first access.
    fn begin(&mut self) -> Position {
        self.all.push(History { before: None, answer: Answer::Done, next: None });
        self.all.len() as Position - 1
    }

    /// Returns a history with one more result.
    fn longer(&mut self, before: Position, answer: Answer) -> Position {
        let mut from = before;
        if let Answer::Spun(_) | Answer::Awake = answer {
            while let History {
                before: Some(earlier),
                answer: Answer::Loaded(_) | Answer::Refused(_) | Answer::Spun(_) | Answer::Awake,
                ..
            } = self.all[from as usize]
            {
                from = earlier;
            }
        }
        *self.numbers.entry((from, answer)).or_insert_with(|| {
            self.all.push(History { before: Some(before), answer, next: None });
            self.all.len() as Position - 1
        })
    }

    /// Returns the next step of the thread `body`.
    fn next(&mut self, body: Body<'_>, position: Position) -> Next {
        if let Some(next) = &self.all[position as usize].next {
            return next.clone();
        }
        let mut answers = Vec::new();
        let mut rest = position;
        while let History { before: Some(before), answer, .. } = self.all[rest as usize] {
            answers.push(answer);
            rest = before;
        }
        REPLAY.set(Replay { answers, asked: None });
        let next = match catch_unwind(AssertUnwindSafe(body)) {
            Ok(results) => Next::End(results),
            Err(payload) => match REPLAY.with_borrow_mut(|replay| replay.asked.take()) {
                Some(request) if payload.is::<Suspended>() => Next::Access(request),
                _ => Next::Panic(match (payload.downcast_ref::<String>(), payload.downcast_ref::<&str>()) {
                    (Some(message), _) => message.clone(),
                    (_, message) => message.map_or_else(String::new, |message| (*message).to_owned()),
                }),
            },
        };
        let left = REPLAY.take().answers;
        assert!(
            left.is_empty(),
            "a thread depends on something else than the results of its accesses: {left:?}"
        );
        self.all[position as usize].next = Some(next.clone());
        next
    }
}

/// The state of all threads and of the memory.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    memory: Memory,
    positions: Vec<Position>,
}

/// The states found so far.
#[derive(Default)]
struct Exploration<'a> {
    threads: &'a [Body<'a>],
    histories: Histories,
    states: Vec<Rc<State>>,
    numbers: HashMap<Rc<State>, usize>,
    /// The states from which each state is reached in one step; the first one is that by which it was found.
    before: Vec<Vec<usize>>,
}

/// Returns the results of all executions of `threads`.
///
/// # Errors
///
/// The steps that lead to a race, to a panic, or to a state from which some threads never end.
///
/// # Panics
///
/// If there are too many threads, words or cells.
pub fn explore(threads: &[Body<'_>]) -> Result<BTreeSet<Results>, String> {
    assert!(threads.len() <= THREADS, "too many threads");
    NAMED.set((NAMED.get().0, NAMED.get().0));
    let mut exploration = Exploration { threads, ..Exploration::default() };
    let positions = threads.iter().map(|_| exploration.histories.begin()).collect();
    let mut start = State { memory: Memory::new(threads.len()), positions };
    for thread in 0..threads.len() {
        start = exploration.settled(start, thread).map_err(|error| format!("{error}, at the start"))?;
    }
    exploration.found(start, None);
    let (mut results, mut ended, mut next) = (BTreeSet::new(), Vec::new(), 0);
    while next < exploration.states.len() {
        if next == MOST_STATES {
            return Err(format!("{MOST_STATES} states and more, after\n{}", exploration.steps_to(next)));
        }
        if let Some(end) = exploration.visit(next)? {
            results.insert(end);
            ended.push(next);
        }
        next += 1;
    }
    exploration.all_lead_to(ended)?;
    Ok(results)
}

impl Exploration<'_> {
    /// Adds a state that is reached from another one.
    fn found(&mut self, state: State, before: Option<usize>) {
        let state = Rc::new(state);
        let number = *self.numbers.entry(Rc::clone(&state)).or_insert(self.states.len());
        if number == self.states.len() {
            self.states.push(state);
            self.before.push(Vec::new());
        }
        self.before[number].extend(before);
    }

    fn next(&mut self, state: &State, thread: usize) -> Next {
        self.histories.next(self.threads[thread], state.positions[thread])
    }

    /// Executes the accesses of a thread that make no difference to others.
    fn settled(&mut self, mut state: State, thread: usize) -> Result<State, String> {
        loop {
            let request = match self.next(&state, thread) {
                Next::Access(request @ (Request::ReadCell(_) | Request::WriteCell(_) | Request::Spin(_))) => {
                    request
                }
                Next::Panic(message) => return Err(format!("thread {thread} panics: {message}")),
                Next::End(results) => {
                    let position = state.positions[thread];
                    state.positions[thread] =
                        *self.histories.ends.entry((thread, results)).or_insert(position);
                    state.memory.end(thread);
                    break;
                }
                Next::Access(_) => break,
            };
            for (memory, answer) in state.memory.clone().after(thread, request, state.positions[thread])? {
                state.memory = memory;
                self.answer(&mut state, thread, answer);
            }
        }
        state.memory.forget();
        Ok(state)
    }

    fn answer(&mut self, state: &mut State, thread: usize, answer: Option<Answer>) {
        if let Some(answer) = answer {
            state.positions[thread] = self.histories.longer(state.positions[thread], answer);
        }
    }

    /// Finds all states after a state. Returns the results if all threads have ended.
    fn visit(&mut self, number: usize) -> Result<Option<Results>, String> {
        let state = Rc::clone(&self.states[number]);
        let mut results = Vec::new();
        for thread in 0..self.threads.len() {
            let request = match self.next(&state, thread) {
                Next::Access(request) => request,
                Next::End(result) => {
                    results.push(result);
                    continue;
                }
                Next::Panic(message) => unreachable!("reported before: {message}"),
            };
            if state.memory.is_asleep(thread) {
                continue;
            }
            let explain = |error: String, this: &mut Self| {
                format!("{error}, after\n{}thread {thread}: {request:?}", this.steps_to(number))
            };
            let after = state.memory.after(thread, request, state.positions[thread]);
            for (memory, answer) in after.map_err(|error| explain(error, self))? {
                let mut next = State { memory, positions: state.positions.clone() };
                self.answer(&mut next, thread, answer);
                for other in 0..self.threads.len() {
                    let woken = state.memory.is_asleep(other) && !next.memory.is_asleep(other);
                    self.answer(&mut next, other, woken.then_some(Answer::Awake));
                    if woken || other == thread {
                        next = self.settled(next, other).map_err(|error| explain(error, self))?;
                    }
                }
                self.found(next, Some(number));
            }
        }
        Ok((results.len() == self.threads.len()).then_some(results))
    }

    /// Checks that some end can be reached from every state.
    fn all_lead_to(&mut self, mut ends: Vec<usize>) -> Result<(), String> {
        let mut leads = vec![false; self.states.len()];
        while let Some(number) = ends.pop() {
            if !std::mem::replace(&mut leads[number], true) {
                ends.extend(&self.before[number]);
            }
        }
        // The last state was found last: it is the farthest from the start.
        match leads.iter().rposition(|leads| !leads) {
            None => Ok(()),
            Some(number) => Err(format!("the threads never end after\n{}", self.steps_to(number))),
        }
    }

    /// Describes the steps by which a state was found.
    fn steps_to(&mut self, number: usize) -> String {
        // Each state but the first was found from one with a smaller number.
        let mut path: Vec<usize> =
            successors(Some(number), |number| Some(*self.before[*number].first()?).filter(|_| *number > 0))
                .collect();
        path.reverse();
        let mut text = String::new();
        for step in path.windows(2) {
            let [before, after] = [step[0], step[1]].map(|number| Rc::clone(&self.states[number]));
            for thread in 0..self.threads.len() {
                let (from, to) = (before.positions[thread], after.positions[thread]);
                if from != to
                    && let Next::Access(request) = self.next(&before, thread)
                {
                    let answer = self.histories.all[to as usize].answer;
                    _ = writeln!(text, "thread {thread}: {request:?} .. {answer:?}");
                }
            }
        }
        text
    }
}
