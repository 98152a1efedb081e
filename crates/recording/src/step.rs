//! What a recording holds.

/// The most steps a recording may have. Each of them is held, rendered, by every thread of a load engine.
pub const MAX_STEPS: usize = 1_000_000;

/// The longest pause kept, a day in nanoseconds: who pauses longer has come back another time.
pub const THINK_MAX_NS: u64 = 24 * 3600 * 1_000_000_000;

/// One recorded request with what is known of its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// The method, an HTTP token.
    pub method: String,
    /// Path and query, starting with a slash; what may not stand in a request line is percent-encoded.
    pub path: String,
    /// Further headers, without those that belong to the recorded connection or to the browser's cache.
    ///
    /// Accept-Encoding stays: a replay asks for what was asked for. A recorded Cookie stays, too; who has cookies
    /// come from the answers of the replay must drop it.
    pub headers: Vec<(String, String)>,
    /// The body as it was sent.
    pub body: Vec<u8>,
    /// The status to expect; `None` where the recorded one says nothing about a new visitor's, as 304 does.
    pub status: Option<u16>,
    /// The length of the recorded answer's body in bytes, before any content coding is removed.
    pub body_length: Option<u64>,
    /// The recorded answer's body; only where its bytes are certain, so never one with a content coding.
    pub answer: Option<Vec<u8>>,
    /// The pause before the request, in nanoseconds, at most [`THINK_MAX_NS`].
    pub think_ns: u64,
    /// Whether it belongs to the page before it, as style sheets, scripts and images do.
    pub embedded: bool,
}

/// The steps of a recorded session, or of a log, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// Where the requests were sent, as "http://host:port" (without a default port); a log does not say.
    pub origin: Option<String>,
    /// At least one.
    pub steps: Vec<Step>,
    /// What was left out: the reason, and how many requests it befell.
    pub skipped: Vec<(String, u64)>,
}
