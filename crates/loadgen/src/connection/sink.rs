//! Who an answer is read for.

use crate::check::{BodyCheck, BodyRule};
use crate::http1::Sink;
use crate::script::{Line, Script};
use crate::visitor::Visitor;

/// Holds a body against its rule.
pub(super) struct BodySink<'a> {
    pub body: &'a mut BodyCheck,
    pub rule: &'a BodyRule,
}

impl Sink for BodySink<'_> {
    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        self.body.feed(self.rule, bytes);
    }
}

/// The same for an answer that tells its visitor something.
pub(super) struct VisitorSink<'a> {
    pub body_sink: BodySink<'a>,
    pub visitor: &'a mut Visitor,
    pub script: &'a Script,
    pub line: &'a Line,
}

impl Sink for VisitorSink<'_> {
    fn listens(&self) -> bool {
        true
    }

    fn field(&mut self, name: &str, value: &[u8]) {
        self.visitor.field(self.script, name, value);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body_sink.body(bytes);
        self.visitor.body(self.script, self.line, bytes);
    }
}
