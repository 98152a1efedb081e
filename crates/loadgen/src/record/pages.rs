//! How long pages take: from a document's intended time to the answer of the last request embedded in it.

/// The pages under way, one per connection.
#[derive(Debug)]
pub(crate) struct Pages {
    open: Vec<Option<Page>>,
}

#[derive(Debug, Clone, Copy)]
struct Page {
    intended_ns: u64,
    embedded: bool,
    right: bool,
}

impl Pages {
    /// For so many connections; none at all when no page has anything embedded.
    pub fn new(connections: usize) -> Pages {
        Pages { open: vec![None; connections] }
    }

    /// Connection `index` begins a request.
    #[inline]
    pub fn begin(&mut self, index: usize, embedded: bool, intended_ns: u64) {
        let Some(slot) = self.open.get_mut(index) else {
            return;
        };
        match slot {
            Some(page) if embedded => page.embedded = true,
            _ => *slot = (!embedded).then_some(Page { intended_ns, embedded: false, right: true }),
        }
    }

    /// A request was settled; the time its page took, if it was the page's last and all were answered rightly.
    #[inline]
    pub fn settle(&mut self, index: usize, right: bool, ends_page: bool, now_ns: u64) -> Option<u64> {
        let slot = self.open.get_mut(index)?;
        let page = slot.as_mut()?;
        page.right &= right;
        if !ends_page {
            return None;
        }
        let page = slot.take()?;
        (page.right && page.embedded).then(|| now_ns - page.intended_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_lasts_until_its_last_part() {
        let mut pages = Pages::new(2);
        pages.begin(0, false, 100);
        assert_eq!(pages.settle(0, true, false, 150), None);
        pages.begin(0, true, 150);
        assert_eq!(pages.settle(0, true, false, 160), None);
        pages.begin(0, true, 160);
        assert_eq!(pages.settle(0, true, true, 190), Some(90));
    }

    #[test]
    fn a_page_with_a_wrong_part_or_without_parts_is_none() {
        let mut pages = Pages::new(1);
        pages.begin(0, false, 100);
        assert_eq!(pages.settle(0, true, true, 150), None);
        pages.begin(0, false, 200);
        assert_eq!(pages.settle(0, false, false, 250), None);
        pages.begin(0, true, 250);
        assert_eq!(pages.settle(0, true, true, 260), None);
        assert_eq!(Pages::new(0).settle(0, true, true, 1), None);
    }
}
