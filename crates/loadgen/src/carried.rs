//! What pages give to their visitors for later requests, as forms carry tokens: where a page has it, and where a
//! request sends it.

use std::ops::Range;

use crate::fields::{fields, resolved};
use crate::members::{members, plain};

/// A named value of an answer that later requests of the visit send back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handout {
    /// Where in the answer it stands.
    pub place: Place,
    /// Its name there.
    pub name: String,
    /// Its number, from 0, among those of that name.
    pub nth: usize,
    /// Where its value is kept.
    pub slot: usize,
}

/// A place in an answer that gives values by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A field of a page, as `<input name=…>` or `<meta name=…>` has it.
    Field,
    /// A named string of JSON or a script.
    Member,
}

/// A place in a request for what the visitor was given; without any, the request is sent as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fill {
    /// The part of the request.
    pub part: Part,
    /// The bytes of that part that are replaced.
    pub range: Range<usize>,
    /// What replaces them.
    pub source: Source,
    /// Whether the value is encoded as forms encode theirs.
    pub form: bool,
}

/// A part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Path and query.
    Path,
    /// The value of the first header of that name.
    Header(String),
    /// The body.
    Body,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// What a handout left there.
    Slot(usize),
    /// The cookie of that name.
    Cookie(String),
}

/// Hands to `keep`, with its number, whatever of `handouts` the body `page` has, and reads no further than needed.
pub(crate) fn take(page: &[u8], handouts: &[Handout], mut keep: impl FnMut(usize, Vec<u8>)) {
    let fields = fields(page).map(|field| (field.name, field.value));
    seek(fields, resolved, Place::Field, handouts, &mut keep);
    let members = members(page).map(|member| (member.name, member.value));
    seek(members, plain, Place::Member, handouts, &mut keep);
}

fn seek<'a>(
    mut values: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    plain: fn(&[u8]) -> Vec<u8>,
    place: Place,
    handouts: &[Handout],
    keep: &mut impl FnMut(usize, Vec<u8>),
) {
    let mut wanted: Vec<(&Handout, usize)> =
        handouts.iter().filter(|handout| handout.place == place).map(|handout| (handout, handout.nth)).collect();
    while !wanted.is_empty() {
        let Some((name, value)) = values.next() else {
            return;
        };
        wanted.retain_mut(|(handout, before)| {
            let named = handout.name.as_bytes() == name;
            if named && *before == 0 {
                keep(handout.slot, plain(value));
                return false;
            }
            *before -= usize::from(named);
            true
        });
    }
}

/// Appends `value` as `application/x-www-form-urlencoded`. Source: URL Standard, section 5.2.
pub(crate) fn form_encode(value: &[u8], bytes: &mut Vec<u8>) {
    for &byte in value {
        match byte {
            b' ' => bytes.push(b'+'),
            b'*' | b'-' | b'.' | b'_' => bytes.push(byte),
            _ if byte.is_ascii_alphanumeric() => bytes.push(byte),
            _ => bytes.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_encode_all_but_what_is_plain() {
        let mut bytes = Vec::new();
        form_encode("a b/c+d=&é-_.*".as_bytes(), &mut bytes);
        assert_eq!(bytes, b"a+b%2Fc%2Bd%3D%26%C3%A9-_.*");
    }

    #[test]
    fn of_several_values_of_a_name_the_nth_is_taken_from_its_place() {
        let page = br#"<input name=t value="1"><input name=t value="2"><script>var t = "3"; t = "4"</script>"#;
        let handout = |place, nth, slot| Handout { place, name: "t".into(), nth, slot };
        let handouts = [(Place::Member, 1, 0), (Place::Field, 1, 1), (Place::Field, 0, 2), (Place::Field, 2, 3)];
        let mut given = Vec::new();
        let keep = |slot, value| given.push((slot, String::from_utf8(value).unwrap()));
        take(page, &handouts.map(|(place, nth, slot)| handout(place, nth, slot)), keep);
        assert_eq!(given, [(2, "1".into()), (1, "2".into()), (0, "4".into())]);
    }
}
