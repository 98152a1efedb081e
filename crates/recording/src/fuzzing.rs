//! What must hold of a recording whatever the bytes it is read from; called by crates/fuzz, and by a test for every
//! file of its corpus.

use std::io::BufReader;

use crate::headers::is_value;
use crate::target::is_token;
use crate::{from_access_log, from_har, Recording, Step, MAX_STEPS, THINK_MAX_NS};

/// Reads `data` as a HAR file. A byte order mark changes nothing, and a limit only cuts.
///
/// # Panics
/// Something does not hold.
pub fn har(data: &[u8]) {
    let all = from_har(data, None);
    if !data.starts_with(b"\xef\xbb\xbf") {
        let marked = from_har(&[b"\xef\xbb\xbf", data].concat(), None);
        assert_eq!(marked.as_ref().ok(), all.as_ref().ok(), "a byte order mark makes a difference");
    }
    let Ok(recording) = all else { return };
    check(&recording);
    assert!(recording.origin.is_some(), "no origin");
    assert!(recording.steps.iter().all(|step| !step.embedded || step.think_ns == 0), "a pause within a page");
    let first = from_har(data, Some(1)).map(|recording| recording.steps);
    assert_eq!(first.ok().as_deref(), recording.steps.get(..1), "a limit changes a step");
}

/// Reads `data` as an access log. How the bytes arrive changes nothing.
///
/// # Panics
/// Something does not hold.
pub fn access_log(data: &[u8]) {
    let all = from_access_log(data, None);
    let in_pieces = from_access_log(BufReader::with_capacity(7, data), None);
    assert_eq!(in_pieces.ok(), all.as_ref().ok().cloned(), "the size of a block makes a difference");
    let Ok(recording) = all else { return };
    check(&recording);
    let lines = data.split(|&byte| byte == b'\n').count() as u64;
    let skipped: u64 = recording.skipped.iter().map(|(_, count)| count).sum();
    assert!(recording.steps.len() as u64 + skipped <= lines, "more requests than lines");
}

fn check(recording: &Recording) {
    assert!((1..=MAX_STEPS).contains(&recording.steps.len()), "{} steps", recording.steps.len());
    assert!(recording.skipped.iter().all(|(_, count)| *count > 0), "a reason that was never met");
    for step in &recording.steps {
        assert!(can_be_sent(step), "cannot be sent: {step:?}");
        assert!(step.think_ns <= THINK_MAX_NS, "an endless pause: {step:?}");
        assert!(step.status.is_none_or(|status| (200..600).contains(&status)), "no status: {step:?}");
        assert!(!step.embedded || matches!(step.method.as_str(), "GET" | "HEAD"), "part of a page: {step:?}");
    }
    assert!(!recording.steps.first().is_some_and(|step| step.embedded), "part of no page");
}

fn can_be_sent(step: &Step) -> bool {
    let sound = |(name, value): &(String, String)| is_token(name.as_bytes()) && is_value(value);
    is_token(step.method.as_bytes())
        && step.path.starts_with('/')
        && step.path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#')
        && step.headers.iter().all(sound)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    fn corpus(target: &str) -> Vec<Vec<u8>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
        let files = std::fs::read_dir(folder).unwrap();
        files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
    }

    #[test]
    fn every_file_of_the_har_corpus_holds() {
        let corpus = corpus("har");
        assert!(!corpus.is_empty());
        corpus.iter().for_each(|data| super::har(data));
    }

    #[test]
    fn every_file_of_the_access_log_corpus_holds() {
        let corpus = corpus("access_log");
        assert!(!corpus.is_empty());
        corpus.iter().for_each(|data| super::access_log(data));
    }
}
