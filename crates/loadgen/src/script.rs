//! A plan made ready for the hot path: request bytes rendered, expectations at hand.

use std::collections::HashMap;

use crate::carried::{Fill, Handout};
use crate::check::Expectation;
use crate::nonce::Nonce;
use crate::plan::{Order, Plan, Reuse, Target};
use crate::request::Message;
use crate::transport::Address;

/// URLs beyond this many share one entry of the statistics, so that a long recording stays affordable.
const URLS_MAX: usize = 500;

#[derive(Debug)]
pub(crate) struct Script {
    pub address: Address,
    pub reuse: Reuse,
    pub order: Order,
    pub cookies: bool,
    pub nonce: Option<Nonce>,
    pub body_max_bytes: u64,
    pub lines: Vec<Line>,
    /// Method and path, in order of first appearance.
    pub urls: Vec<String>,
    /// Whether some line is embedded in a page.
    pub has_pages: bool,
}

/// One target.
#[derive(Debug)]
pub(crate) struct Line {
    pub message: Message,
    /// Its message as the last one on a connection, where that differs.
    pub last_message: Option<Message>,
    pub path: Vec<u8>,
    pub to_head: bool,
    pub idempotent: bool,
    pub waits_for_continue: bool,
    pub expectation: Expectation,
    pub think_ns: u64,
    pub embedded: bool,
    /// Nothing after it belongs to its page.
    pub ends_page: bool,
    pub handouts: Vec<Handout>,
    pub fills: Vec<Fill>,
    /// Its place among the URLs.
    pub url: usize,
}

impl Script {
    pub fn new(plan: &Plan) -> Script {
        let mut urls = Urls::default();
        let lines: Vec<Line> = (0..plan.targets.len()).map(|index| line(plan, index, &mut urls)).collect();
        Script {
            address: plan.address.clone(),
            reuse: plan.reuse,
            order: plan.order,
            cookies: plan.cookies,
            nonce: plan.nonce.clone(),
            body_max_bytes: plan.body_max_bytes,
            has_pages: plan.order == Order::Session && lines.iter().any(|line| line.embedded),
            lines,
            urls: urls.names,
        }
    }

    /// Whether requests differ from one sending to the next.
    pub fn is_personal(&self) -> bool {
        self.cookies || self.nonce.is_some() || self.lines.iter().any(|line| !line.fills.is_empty())
    }
}

fn line(plan: &Plan, index: usize, urls: &mut Urls) -> Line {
    let Target { request, expectation, think_ns, embedded, handouts, fills } = &plan.targets[index];
    let nonce = plan.nonce.as_ref();
    let last_message = matches!(plan.reuse, Reuse::Times(_)).then(|| request.message(true, nonce, fills));
    Line {
        message: request.message(plan.reuse == Reuse::Never, nonce, fills),
        last_message,
        path: request.path.clone().into_bytes(),
        to_head: request.is_head(),
        idempotent: request.is_idempotent(),
        waits_for_continue: request.waits_for_continue(),
        expectation: expectation.clone(),
        think_ns: *think_ns,
        embedded: *embedded,
        ends_page: plan.targets.get(index + 1).is_none_or(|next| !next.embedded),
        handouts: handouts.clone(),
        fills: fills.clone(),
        url: urls.place(format!("{} {}", request.method, request.path)),
    }
}

/// Distinct URLs, numbered.
#[derive(Default)]
struct Urls {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Urls {
    fn place(&mut self, name: String) -> usize {
        if let Some(&place) = self.places.get(&name) {
            return place;
        }
        if self.names.len() > URLS_MAX {
            return URLS_MAX;
        }
        self.names.push(if self.names.len() == URLS_MAX { "others".into() } else { name.clone() });
        self.places.insert(name, self.names.len() - 1);
        self.names.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_numbered_once_and_the_rest_shares_a_place() {
        let mut urls = Urls::default();
        assert_eq!((urls.place("a".into()), urls.place("b".into()), urls.place("a".into())), (0, 1, 0));
        for number in 0..2 * URLS_MAX {
            urls.place(number.to_string());
        }
        assert_eq!((urls.names.len(), urls.names[URLS_MAX].as_str()), (URLS_MAX + 1, "others"));
        assert_eq!((urls.place("a".into()), urls.place("new".into())), (0, URLS_MAX));
    }
}
