//! What a request was to the person who browsed: a page, a part of it, or something the page asked for later.

use super::body::essence;
use super::candidate::Candidate;
use crate::headers::value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A document: somebody went there.
    Page,
    /// Loaded because the page says so: a style sheet, a script, an image, a frame.
    Part,
    /// Asked for by itself: a form, a script's request, an API call.
    Call,
}

/// The role of a request, from the surest sign to the least sure: what the browser told the server, what it told the
/// exporter, what the answer was. Only what is read with GET or HEAD can be a part.
///
/// Sources: Fetch Metadata Request Headers, section 2.1; Chromium's exporter for the names of resource types.
pub(super) fn role(candidate: &Candidate) -> Role {
    let found = by_fetch_metadata(candidate)
        .or_else(|| by_resource_type(candidate))
        .unwrap_or_else(|| by_answer(candidate));
    let reads = matches!(candidate.method.as_str(), "GET" | "HEAD");
    if found == Role::Part && !reads {
        return Role::Call;
    }
    found
}

fn by_fetch_metadata(candidate: &Candidate) -> Option<Role> {
    Some(match value(&candidate.headers, "sec-fetch-dest")? {
        "document" => Role::Page,
        "empty" => Role::Call,
        _ => Role::Part,
    })
}

fn by_resource_type(candidate: &Candidate) -> Option<Role> {
    Some(match candidate.resource_type.as_deref()? {
        "document" => Role::Page,
        "xhr" | "fetch" => Role::Call,
        _ => Role::Part,
    })
}

/// A redirect has no media type worth the name: it is a page if the browser wanted one.
fn by_answer(candidate: &Candidate) -> Role {
    let wants_page = value(&candidate.headers, "accept").is_some_and(|accept| accept.starts_with("text/html"));
    let media_type = essence(&candidate.answer_type);
    if value(&candidate.headers, "x-requested-with").is_some() || media_type.ends_with("json") {
        Role::Call
    } else if matches!(media_type.as_str(), "text/html" | "application/xhtml+xml")
        || (wants_page && matches!(candidate.status, 301..=303 | 307..=308))
    {
        Role::Page
    } else {
        Role::Part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(method: &str, status: u16, answer_type: &str, resource_type: &str, headers: &[(&str, &str)]) -> Role {
        let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        role(&Candidate {
            method: method.into(),
            status,
            answer_type: answer_type.into(),
            resource_type: (!resource_type.is_empty()).then(|| resource_type.into()),
            headers,
            ..Candidate::default()
        })
    }

    #[test]
    fn the_browser_knows_best() {
        assert_eq!(seen("GET", 200, "text/html", "", &[("Sec-Fetch-Dest", "document")]), Role::Page);
        assert_eq!(seen("GET", 200, "text/html", "document", &[("Sec-Fetch-Dest", "iframe")]), Role::Part);
        assert_eq!(seen("GET", 200, "text/html", "", &[("Sec-Fetch-Dest", "empty")]), Role::Call);
        assert_eq!(seen("POST", 302, "", "", &[("sec-fetch-dest", "document")]), Role::Page);
        assert_eq!(seen("GET", 200, "text/html", "", &[("sec-fetch-dest", "image")]), Role::Part);
    }

    #[test]
    fn then_the_exporter() {
        assert_eq!(seen("GET", 200, "x-unknown", "document", &[]), Role::Page);
        assert_eq!(seen("GET", 200, "text/html", "xhr", &[]), Role::Call);
        assert_eq!(seen("GET", 200, "text/css", "fetch", &[]), Role::Call);
        assert_eq!(seen("GET", 200, "text/html", "stylesheet", &[]), Role::Part);
        assert_eq!(seen("POST", 204, "", "ping", &[]), Role::Call);
    }

    #[test]
    fn then_the_answer() {
        assert_eq!(seen("GET", 200, "Text/HTML; charset=utf-8", "", &[]), Role::Page);
        assert_eq!(seen("GET", 200, "application/xhtml+xml", "", &[]), Role::Page);
        assert_eq!(seen("GET", 200, "text/css", "", &[]), Role::Part);
        assert_eq!(seen("GET", 200, "application/problem+json", "", &[]), Role::Call);
        assert_eq!(seen("GET", 302, "", "", &[("Accept", "text/html,*/*;q=0.8")]), Role::Page);
        assert_eq!(seen("GET", 302, "", "", &[("Accept", "image/webp")]), Role::Part);
        assert_eq!(seen("GET", 304, "", "", &[("Accept", "text/html,*/*;q=0.8")]), Role::Part);
        assert_eq!(seen("GET", 200, "text/html", "", &[("X-Requested-With", "XMLHttpRequest")]), Role::Call);
        assert_eq!(seen("POST", 200, "text/html", "", &[]), Role::Page);
        assert_eq!(seen("DELETE", 204, "", "", &[]), Role::Call);
    }
}
