//! Access logs of web servers, in the common or combined format.

mod line;
mod lines;
mod pages;

use std::io::BufRead;

pub use lines::LINE_MAX_BYTES;

use crate::error::LogError;
use crate::headers::is_value;
use crate::skip::{Skip, Skipped};
use crate::step::{Recording, Step, MAX_STEPS, THINK_MAX_NS};
use crate::target::{is_token, origin_form, split};
use line::Line;
use lines::Lines;
use pages::Pages;

/// Reads an access log into its first `limit` steps, all of them without a limit. A byte slice will do for `input`.
///
/// The log is read line by line, and no further than needed; memory is bounded by what comes out. A line that cannot
/// be replayed is counted, not an error. Pauses are those of the log as a whole, in whole seconds as it has them.
///
/// # Errors
/// No line is of either format or can be replayed, or there are more than [`MAX_STEPS`] that can.
pub fn from_access_log(input: impl BufRead, limit: Option<usize>) -> Result<Recording, LogError> {
    read(input, limit.unwrap_or(usize::MAX), MAX_STEPS)
}

fn read(input: impl BufRead, limit: usize, max_steps: usize) -> Result<Recording, LogError> {
    let (mut lines, mut log) = (Lines::new(input), Log::default());
    while log.steps.len() < limit {
        let Some(text) = lines.next()? else { break };
        if text.is_empty() {
            continue;
        }
        let taken = log.take(text);
        let number = lines.number;
        log.first_line.get_or_insert(number);
        match taken {
            Err(reason) => log.skip(reason, number),
            Ok(()) if log.steps.len() > max_steps => return Err(LogError::TooMany { line: number }),
            Ok(()) => {}
        }
    }
    log.finish()
}

/// What the lines so far have come to.
#[derive(Default)]
struct Log {
    steps: Vec<Step>,
    skipped: Skipped,
    /// Each reason with the first line it was met in.
    first_skips: Vec<(Skip, usize)>,
    first_line: Option<usize>,
    pages: Pages,
    /// The latest time so far: servers write a line when they are done, with the time they began.
    latest_ns: Option<i64>,
}

impl Log {
    fn take(&mut self, text: &[u8]) -> Result<(), Skip> {
        let line = Some(text).filter(|text| text.len() <= LINE_MAX_BYTES).and_then(line::line).ok_or(Skip::Line)?;
        let (method, path) = asked(&line)?;
        let pause_ns = line.time_ns.saturating_sub(self.latest_ns.unwrap_or(line.time_ns));
        self.latest_ns = self.latest_ns.max(Some(line.time_ns));
        let embedded = self.pages.embeds(line.client, &path, line.referer.as_deref(), &self.steps);
        self.pages.note(line.client, &path, self.steps.len());
        self.steps.push(Step {
            body_length: (line.status == 200 && method == "GET").then_some(line.body_length),
            method,
            path,
            headers: headers(&line),
            status: Some(line.status).filter(|status| *status != 304),
            think_ns: u64::try_from(pause_ns).unwrap_or(0).min(THINK_MAX_NS),
            embedded,
            ..Step::default()
        });
        Ok(())
    }

    fn skip(&mut self, reason: Skip, line: usize) {
        self.skipped.count(reason);
        if !self.first_skips.iter().any(|(met, _)| *met == reason) {
            self.first_skips.push((reason, line));
        }
    }

    fn finish(self) -> Result<Recording, LogError> {
        if !self.steps.is_empty() {
            return Ok(Recording { origin: None, steps: self.steps, skipped: self.skipped.into_reasons() });
        }
        let line = self.first_line.ok_or(LogError::Empty)?;
        if self.first_skips.iter().all(|(reason, _)| *reason == Skip::Line) {
            return Err(LogError::NotALog { line });
        }
        let foremost = self.skipped.foremost().unwrap_or(Skip::Line);
        let first = self.first_skips.iter().find(|(reason, _)| *reason == foremost);
        Err(LogError::Nothing { reason: foremost.reason(), line: first.map_or(line, |(_, line)| *line) })
    }
}

/// Method and path of a request that can be replayed.
///
/// A path may hold spaces that a server logged as they came, so it lies between the first space and the last.
fn asked(line: &Line) -> Result<(String, String), Skip> {
    let mut ends = line.request.splitn(2, |&byte| byte == b' ');
    let (method, rest) = (ends.next().unwrap_or_default(), ends.next().unwrap_or_default());
    let mut ends = rest.rsplitn(2, |&byte| byte == b' ');
    let (version, target) = (ends.next().unwrap_or_default(), ends.next().unwrap_or_default());
    if !is_token(method) || !is_version(version) {
        return Err(Skip::RequestLine);
    }
    let method = match method {
        b"GET" => "GET",
        b"HEAD" => "HEAD",
        _ => return Err(Skip::BodyNotLogged),
    };
    // nginx writes 499 where the client did not wait for an answer.
    if !(200..600).contains(&line.status) || line.status == 499 {
        return Err(Skip::AnswerNotLogged);
    }
    let path = match target.first() {
        Some(b'/') => origin_form(target),
        // A proxy, or whoever takes the server for one, is asked with the whole URL. Source: RFC 9112 section 3.2.2.
        _ => split(target).ok_or(Skip::RequestLine)?.path,
    };
    Ok((method.into(), path))
}

/// Source: RFC 9112 section 2.3; servers write HTTP/2.0 and HTTP/3.0 for those.
fn is_version(text: &[u8]) -> bool {
    matches!(text, [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'])
}

/// What the combined format tells of the request's headers.
fn headers(line: &Line) -> Vec<(String, String)> {
    let told = [("Referer", &line.referer), ("User-Agent", &line.user_agent)];
    let texts = told.into_iter().filter_map(|(name, value)| {
        let text = std::str::from_utf8(value.as_deref()?).ok()?.trim();
        (!text.is_empty() && is_value(text)).then(|| (name.into(), text.into()))
    });
    texts.collect()
}

#[cfg(test)]
mod tests;
