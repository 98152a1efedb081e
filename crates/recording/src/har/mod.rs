//! HAR 1.2 files. Source: HTTP Archive 1.2, <http://www.softwareishard.com/blog/har-12-spec/>.

mod body;
mod candidate;
mod entry;
mod role;
mod session;

use std::collections::HashMap;
use std::fmt;

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::error::HarError;
use crate::skip::{Skip, Skipped};
use crate::step::{Recording, MAX_STEPS};
use candidate::{candidate, Candidate};

/// Reads a HAR file into its first `limit` steps, all of them without a limit.
///
/// Kept are the requests to the server that got most of them, in the order they were started in. An entry that cannot
/// be replayed is counted, not an error.
///
/// # Errors
/// The file is no HAR file, has more than [`MAX_STEPS`] entries, or none of its entries can be replayed.
pub fn from_har(bytes: &[u8], limit: Option<usize>) -> Result<Recording, HarError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let file: File = serde_json::from_slice(bytes)?;
    let entries = file.log.and_then(|log| log.entries).ok_or(HarError::NoEntries)?;
    if entries.too_many {
        return Err(HarError::TooMany);
    }
    let judged: Vec<_> = entries.raw.iter().map(|raw| candidate(raw.get())).collect();
    recording(judged, limit.unwrap_or(MAX_STEPS))
}

fn recording(judged: Vec<Result<Candidate, Skip>>, limit: usize) -> Result<Recording, HarError> {
    let Some(origin) = main_origin(judged.iter().flatten()) else {
        return Err(nothing(&judged));
    };
    let (mut kept, mut skipped) = (Vec::new(), Skipped::default());
    for each in judged {
        match each {
            Ok(candidate) if candidate.origin == origin => kept.push(candidate),
            Ok(_) => skipped.count(Skip::OtherServer),
            Err(reason) => skipped.count(reason),
        }
    }
    let mut steps = session::steps(kept);
    steps.truncate(limit);
    Ok(Recording { origin: Some(origin), steps, skipped: skipped.into_reasons() })
}

/// The origin with most requests; the first of several.
fn main_origin<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> Option<String> {
    let mut counts: HashMap<&str, (u64, usize)> = HashMap::new();
    for (place, candidate) in candidates.enumerate() {
        counts.entry(&candidate.origin).or_insert((0, usize::MAX - place)).0 += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(origin, _)| origin.into())
}

fn nothing(judged: &[Result<Candidate, Skip>]) -> HarError {
    let mut skipped = Skipped::default();
    judged.iter().filter_map(|each| each.as_ref().err()).for_each(|reason| skipped.count(*reason));
    let Some(foremost) = skipped.foremost() else {
        return HarError::Empty;
    };
    let first = judged.iter().position(|each| each.as_ref().err() == Some(&foremost)).unwrap_or_default();
    HarError::Nothing { entries: judged.len(), reason: foremost.reason(), entry: first + 1 }
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, default)]
    log: Option<Log<'a>>,
}

#[derive(Deserialize)]
struct Log<'a> {
    #[serde(borrow, default)]
    entries: Option<Entries<'a>>,
}

/// The entries as they are written, so that an odd one costs itself only.
struct Entries<'a> {
    raw: Vec<&'a RawValue>,
    too_many: bool,
}

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries<'a>, D::Error> {
        deserializer.deserialize_seq(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Entries<'de>, A::Error> {
        let mut raw = Vec::new();
        while raw.len() < MAX_STEPS {
            match list.next_element()? {
                Some(entry) => raw.push(entry),
                None => return Ok(Entries { raw, too_many: false }),
            }
        }
        let too_many = list.next_element::<IgnoredAny>()?.is_some();
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Entries { raw, too_many })
    }
}

#[cfg(test)]
mod tests;
