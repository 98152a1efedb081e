//! The fields of a HAR entry that a replay needs. Source: HTTP Archive 1.2; fields with an underscore are exporters'.
//!
//! Exporters disagree about what is optional, null, a number or a string, and some write text that is no valid
//! string. So a leaf is kept as it was written and read only when asked for: what cannot be read is not there.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(super) struct Entry<'a> {
    #[serde(borrow, default)]
    pub pageref: Leaf<'a>,
    #[serde(borrow, default, rename = "startedDateTime")]
    pub started: Leaf<'a>,
    #[serde(borrow, default)]
    pub time: Leaf<'a>,
    #[serde(borrow)]
    pub request: Request<'a>,
    #[serde(borrow, default)]
    pub response: Option<Response<'a>>,
    #[serde(borrow, default, rename = "_resourceType")]
    pub resource_type: Leaf<'a>,
    #[serde(borrow, default, rename = "_fromCache")]
    pub from_cache: Leaf<'a>,
    #[serde(borrow, default, rename = "_webSocketMessages")]
    pub web_socket_messages: Leaf<'a>,
}

#[derive(Deserialize)]
pub(super) struct Request<'a> {
    #[serde(borrow, default)]
    pub method: Leaf<'a>,
    #[serde(borrow, default)]
    pub url: Leaf<'a>,
    #[serde(borrow, default)]
    pub headers: Leaf<'a>,
    #[serde(borrow, default, rename = "postData")]
    pub post_data: Option<PostData<'a>>,
    #[serde(borrow, default, rename = "bodySize")]
    pub body_size: Leaf<'a>,
}

#[derive(Deserialize)]
pub(super) struct PostData<'a> {
    #[serde(borrow, default, rename = "mimeType")]
    pub mime_type: Leaf<'a>,
    #[serde(borrow, default)]
    pub text: Leaf<'a>,
    #[serde(borrow, default)]
    pub params: Leaf<'a>,
    #[serde(borrow, default)]
    pub encoding: Leaf<'a>,
}

#[derive(Deserialize)]
pub(super) struct Response<'a> {
    #[serde(borrow, default)]
    pub status: Leaf<'a>,
    #[serde(borrow, default)]
    pub headers: Leaf<'a>,
    #[serde(borrow, default)]
    pub content: Option<Content<'a>>,
    #[serde(borrow, default, rename = "_error")]
    pub error: Leaf<'a>,
    #[serde(borrow, default, rename = "_fetchedViaServiceWorker")]
    pub via_service_worker: Leaf<'a>,
}

#[derive(Deserialize)]
pub(super) struct Content<'a> {
    #[serde(borrow, default)]
    pub size: Leaf<'a>,
    #[serde(borrow, default, rename = "mimeType")]
    pub mime_type: Leaf<'a>,
    #[serde(borrow, default)]
    pub text: Leaf<'a>,
    #[serde(borrow, default)]
    pub encoding: Leaf<'a>,
}

/// A name with a value, as headers and parameters of forms are listed.
#[derive(Deserialize)]
struct Pair<'a> {
    #[serde(borrow, default)]
    name: Leaf<'a>,
    #[serde(borrow, default)]
    value: Leaf<'a>,
}

/// A value as it was written; none for null.
#[derive(Default, Clone, Copy)]
pub(super) struct Leaf<'a>(Option<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Leaf<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Leaf<'a>, D::Error> {
        Option::deserialize(deserializer).map(Leaf)
    }
}

impl<'a> Leaf<'a> {
    pub fn is_there(self) -> bool {
        self.0.is_some()
    }

    pub fn is_true(self) -> bool {
        self.0.is_some_and(|raw| raw.get() == "true")
    }

    /// A string, or a number as it is written.
    pub fn text(self) -> Option<String> {
        let raw = self.0?.get();
        if raw.starts_with('"') {
            return serde_json::from_str(raw).ok();
        }
        raw.starts_with(|first: char| first == '-' || first.is_ascii_digit()).then(|| raw.into())
    }

    /// A finite number, or a string that holds one.
    pub fn number(self) -> Option<f64> {
        self.text()?.trim().parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Names with their values; those that cannot be read are passed over.
    pub fn pairs(self) -> Vec<(String, String)> {
        let raw = self.0.map_or("[]", RawValue::get);
        let pairs: Vec<Pair<'a>> = serde_json::from_str(raw).unwrap_or_default();
        pairs.iter().filter_map(|pair| Some((pair.name.text()?, pair.value.text()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(json: &str) -> Leaf<'_> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_leaf_is_read_as_far_as_it_can_be() {
        assert_eq!(leaf("\"a\\u00e9\"").text().as_deref(), Some("aé"));
        assert_eq!(leaf("200").text().as_deref(), Some("200"));
        assert_eq!(leaf("\" 1.5 \"").number(), Some(1.5));
        assert_eq!(leaf("-1").number(), Some(-1.0));
        for json in ["null", "[1]", "{}", "true", "\"\\ud800\""] {
            assert_eq!((leaf(json).text(), leaf(json).number()), (None, None), "{json}");
        }
        assert_eq!(leaf("1e999").number(), None);
        assert!(!leaf("null").is_there() && leaf("[]").is_there());
        assert!(leaf("true").is_true() && !leaf("false").is_true());
    }

    #[test]
    fn pairs_are_read_one_by_one() {
        let json = r#"[{"name": "a", "value": "b"}, {"name": "n", "value": 1}, {"name": "x"}, {"value": "y"}, {}]"#;
        assert_eq!(leaf(json).pairs(), [("a".into(), "b".into()), ("n".into(), "1".into())]);
        for json in ["null", "{}", "3", "[1]", "\"a\""] {
            assert!(leaf(json).pairs().is_empty(), "{json}");
        }
    }
}
