//! The agenda: which answer is due next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An answer that departs at `due_ns`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// `None`: never.
    pub due_ns: Option<u64>,
    /// The client's index, and the number that tells whether it is still the same.
    pub client: usize,
    pub number: u64,
    pub arrived_ns: u64,
}

/// Answers in order of time; those due together in the order they were added.
#[derive(Default)]
pub struct Agenda {
    heap: BinaryHeap<Reverse<Entry>>,
    added: u64,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    due_ns: u64,
    order: u64,
    client: usize,
    number: u64,
    arrived_ns: u64,
}

impl Agenda {
    /// Adds an answer; one that is never due is forgotten.
    pub fn add(&mut self, answer: Answer) {
        let Some(due_ns) = answer.due_ns else { return };
        self.added += 1;
        self.heap.push(Reverse(Entry {
            due_ns,
            order: self.added,
            client: answer.client,
            number: answer.number,
            arrived_ns: answer.arrived_ns,
        }));
    }

    /// The answer that is due longest, if any is at `now_ns`.
    pub fn take_due(&mut self, now_ns: u64) -> Option<Answer> {
        if self.heap.peek()?.0.due_ns > now_ns {
            return None;
        }
        let Reverse(entry) = self.heap.pop()?;
        Some(Answer {
            due_ns: Some(entry.due_ns),
            client: entry.client,
            number: entry.number,
            arrived_ns: entry.arrived_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agenda(due_ns: &[Option<u64>]) -> Agenda {
        let mut agenda = Agenda::default();
        for (number, &due_ns) in due_ns.iter().enumerate() {
            agenda.add(Answer { due_ns, client: 0, number: number as u64, arrived_ns: 0 });
        }
        agenda
    }

    fn numbers(agenda: &mut Agenda, now_ns: u64) -> Vec<u64> {
        std::iter::from_fn(|| agenda.take_due(now_ns)).map(|answer| answer.number).collect()
    }

    #[test]
    fn answers_come_in_order_of_time_and_not_before_it() {
        let mut agenda = agenda(&[Some(30), Some(10), Some(20)]);
        assert_eq!(numbers(&mut agenda, 9), []);
        assert_eq!(numbers(&mut agenda, 20), [1, 2]);
        assert_eq!(numbers(&mut agenda, 1_000), [0]);
    }

    #[test]
    fn answers_due_together_keep_their_order() {
        assert_eq!(numbers(&mut agenda(&[Some(5); 100]), 5), (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_never_due_never_comes() {
        assert_eq!(numbers(&mut agenda(&[None, Some(1)]), u64::MAX), [1]);
    }
}
