//! Which requests of a log belong to a page: style sheets, scripts, images and fonts that its client asked for next.

use std::collections::HashMap;

use crate::step::Step;
use crate::target::split;

const STATIC: [&str; 15] =
    ["avif", "css", "gif", "ico", "jpeg", "jpg", "js", "map", "mjs", "png", "svg", "ttf", "webp", "woff", "woff2"];

/// The page that each client saw last.
#[derive(Default)]
pub(super) struct Pages {
    /// The places of the pages' steps.
    seen: HashMap<Vec<u8>, usize>,
}

impl Pages {
    /// Whether a request for `path` is part of the page its client saw last.
    ///
    /// Where the log tells what page it was asked for from, that must be the one. What a style sheet asks for names
    /// the style sheet there, so the client alone decides.
    pub fn embeds(&self, client: &[u8], path: &str, referer: Option<&[u8]>, steps: &[Step]) -> bool {
        let Some(page) = self.seen.get(client).and_then(|&place| steps.get(place)).filter(|_| is_static(path))
        else {
            return false;
        };
        let from = referer.and_then(split).map(|address| address.path);
        from.is_none_or(|from| from == page.path || is_static(&from))
    }

    /// Notes that `client` asked for `path`, the step at `place`.
    pub fn note(&mut self, client: &[u8], path: &str, place: usize) {
        if !is_static(path) {
            self.seen.insert(client.to_vec(), place);
        }
    }
}

fn is_static(path: &str) -> bool {
    let file = path.split('?').next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    let extension = file.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| STATIC.contains(&extension.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_tells_what_is_static() {
        for path in ["/a.css", "/a/b.min.JS?v=1.2", "/x.y/.ico", "/%20.woff2"] {
            assert!(is_static(path), "{path}");
        }
        for path in ["/", "/css", "/a.css/", "/a.html", "/a?b=c.css", "/a.cssx", "/a."] {
            assert!(!is_static(path), "{path}");
        }
    }

    #[test]
    fn static_files_belong_to_the_page_they_are_asked_for_from() {
        let steps = ["/a?b=1", "/other"].map(|path| Step { path: path.into(), ..Step::default() });
        let mut pages = Pages::default();
        pages.note(b"me", "/a?b=1", 0);
        pages.note(b"you", "/other", 1);
        pages.note(b"me", "/x.css", 7);
        let embeds = |client: &[u8], path: &str, referer: Option<&str>| {
            pages.embeds(client, path, referer.map(str::as_bytes), &steps)
        };
        assert!(embeds(b"me", "/x.css", None));
        assert!(embeds(b"me", "/x.css", Some("http://shop.example/a?b=1")));
        assert!(embeds(b"me", "/x.woff", Some("http://shop.example/x.css")));
        assert!(embeds(b"me", "/x.css", Some("no URL")));
        assert!(!embeds(b"me", "/x.css", Some("http://shop.example/a")));
        assert!(!embeds(b"me", "/next", Some("http://shop.example/a?b=1")));
        assert!(embeds(b"you", "/x.css", Some("http://shop.example/other")));
        assert!(!embeds(b"nobody", "/x.css", None));
    }
}
