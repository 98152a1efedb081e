//! Why a recorded request is left out, and how often.

/// A reason to leave a request out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Skip {
    Unreadable,
    Scheme,
    OtherServer,
    Method,
    WebSocket,
    EventStream,
    OwnAnswer,
    NoAnswer,
    BodyMissing,
    BodyDamaged,
    Line,
    RequestLine,
    BodyNotLogged,
    AnswerNotLogged,
}

impl Skip {
    const ALL: [Skip; 14] = [
        Skip::Unreadable,
        Skip::Scheme,
        Skip::OtherServer,
        Skip::Method,
        Skip::WebSocket,
        Skip::EventStream,
        Skip::OwnAnswer,
        Skip::NoAnswer,
        Skip::BodyMissing,
        Skip::BodyDamaged,
        Skip::Line,
        Skip::RequestLine,
        Skip::BodyNotLogged,
        Skip::AnswerNotLogged,
    ];

    /// The reason in words, to follow "left out: ".
    pub fn reason(self) -> &'static str {
        match self {
            Skip::Unreadable => "not a readable entry",
            Skip::Scheme => "neither http nor https (data:, ws:, a browser extension)",
            Skip::OtherServer => "sent to another server",
            Skip::Method => "its method cannot be replayed",
            Skip::WebSocket => "a WebSocket",
            Skip::EventStream => "an event stream, which has no end",
            Skip::OwnAnswer => "answered by the browser itself, out of its cache or by a service worker",
            Skip::NoAnswer => "failed, blocked or never answered",
            Skip::BodyMissing => "its body is not in the file",
            Skip::BodyDamaged => "its body is not whole in the file",
            Skip::Line => "not a line of the common or combined format",
            Skip::RequestLine => "its request line is malformed",
            Skip::BodyNotLogged => "its body is not in the log",
            Skip::AnswerNotLogged => "no answer to it is in the log",
        }
    }
}

/// How often each reason was met.
#[derive(Debug, Default)]
pub(crate) struct Skipped([u64; Skip::ALL.len()]);

impl Skipped {
    pub fn count(&mut self, reason: Skip) {
        if let Some(count) = self.0.get_mut(reason as usize) {
            *count += 1;
        }
    }

    /// The reason that was met most often.
    pub fn foremost(&self) -> Option<Skip> {
        let met = Skip::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0);
        met.max_by_key(|(_, count)| *count).map(|(reason, _)| reason)
    }

    /// The reasons that were met, in the order of the enum.
    pub fn into_reasons(self) -> Vec<(String, u64)> {
        let all = Skip::ALL.into_iter().zip(self.0);
        all.filter(|(_, count)| *count > 0).map(|(reason, count)| (reason.reason().into(), count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_place_and_words() {
        for (place, reason) in Skip::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, place);
        }
        let mut words: Vec<_> = Skip::ALL.iter().map(|reason| reason.reason()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Skip::ALL.len());
    }

    #[test]
    fn only_what_was_met_is_told() {
        let mut skipped = Skipped::default();
        skipped.count(Skip::Method);
        skipped.count(Skip::Scheme);
        skipped.count(Skip::Method);
        assert_eq!(skipped.foremost(), Some(Skip::Method));
        let told = skipped.into_reasons();
        assert_eq!(told.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(Skipped::default().foremost(), None);
    }
}
