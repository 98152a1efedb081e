//! Which line of the script a connection sends next.

use crate::plan::Order;

/// One thread's place in the script.
#[derive(Debug)]
pub(crate) enum Cursor {
    /// The next line goes to whichever connection is free.
    Turn { next: usize, lines: usize },
    /// Each connection has its own place.
    Session { places: Vec<u32>, lines: usize },
}

impl Cursor {
    pub fn new(order: Order, lines: usize, connections: usize) -> Cursor {
        match order {
            Order::Turn => Cursor::Turn { next: 0, lines },
            Order::Session => Cursor::Session { places: vec![0; connections], lines },
        }
    }

    /// The line connection `index` is at; it moves on.
    #[inline]
    pub fn advance(&mut self, index: usize) -> usize {
        match self {
            Cursor::Turn { next, lines } => {
                let line = *next;
                *next = if line + 1 < *lines { line + 1 } else { 0 };
                line
            }
            Cursor::Session { places, lines } => {
                let line = places[index] as usize;
                places[index] = if line + 1 < *lines { line as u32 + 1 } else { 0 };
                line
            }
        }
    }

    /// The line a session goes on with on connection `index`; `None` where nobody's session is under way.
    #[inline]
    pub fn midway(&self, index: usize) -> Option<usize> {
        match self {
            Cursor::Turn { .. } => None,
            Cursor::Session { places, .. } => Some(places[index] as usize).filter(|&line| line > 0),
        }
    }

    /// Whether connection `index` is about to begin a session.
    #[inline]
    pub fn is_beginning(&self, index: usize) -> bool {
        match self {
            Cursor::Turn { .. } => false,
            Cursor::Session { places, .. } => places[index] == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_go_round_whoever_takes_them() {
        let mut cursor = Cursor::new(Order::Turn, 2, 3);
        assert_eq!([cursor.advance(0), cursor.advance(0), cursor.advance(2)], [0, 1, 0]);
        assert_eq!((cursor.midway(0), cursor.is_beginning(0)), (None, false));
    }

    #[test]
    fn sessions_go_round_by_themselves() {
        let mut cursor = Cursor::new(Order::Session, 2, 2);
        assert_eq!([cursor.advance(0), cursor.advance(1), cursor.advance(0)], [0, 0, 1]);
        assert_eq!((cursor.midway(0), cursor.midway(1)), (None, Some(1)));
        assert!(cursor.is_beginning(0) && !cursor.is_beginning(1));
    }
}
