//! Attribute limit, checked before a page is parsed: one tag with very many attributes would keep the
//! parser, which compares each with all others, busy for hours.

/// No page for people has a tag with more attributes.
const MAX_ATTRIBUTES: usize = 500;

/// Elements whose content is text, whatever it looks like, up to their end tag.
const RAW: &[&str] =
    &["iframe", "noembed", "noframes", "noscript", "script", "style", "textarea", "title", "xmp"];

/// Why a page is not worth parsing.
pub(super) fn check(html: &str) -> Result<(), String> {
    let bytes = html.as_bytes();
    let mut at = 0;
    while let Some(open) = find(bytes, at, b"<") {
        at = open + 1;
        match bytes.get(at) {
            Some(b'!') if bytes[at..].starts_with(b"!--") => {
                // `<!-->` is a whole comment.
                at = find(bytes, at + 1, b"-->").map_or(bytes.len(), |end| end + 3);
            }
            Some(byte) if byte.is_ascii_alphabetic() => {
                let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric());
                let name = html[at..at + length.count()].to_ascii_lowercase();
                let (attributes, end) = attributes(bytes, at);
                if attributes > MAX_ATTRIBUTES {
                    return Err(format!("a tag has more than {MAX_ATTRIBUTES} attributes"));
                }
                at = end;
                if RAW.contains(&name.as_str()) {
                    at = end_tag(bytes, at, name.as_bytes());
                }
            }
            Some(b'/') if bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic) => {
                // End tags can have attributes too; they are dropped after the same comparison.
                let (attributes, end) = attributes(bytes, at + 1);
                if attributes > MAX_ATTRIBUTES {
                    return Err(format!("a tag has more than {MAX_ATTRIBUTES} attributes"));
                }
                at = end;
            }
            _ => {}
        }
    }
    Ok(())
}

/// How many attributes the tag at `at` has, and where it ends. Counts no further than it must.
fn attributes(bytes: &[u8], at: usize) -> (usize, usize) {
    let is_break = |byte: u8| byte.is_ascii_whitespace() || byte == b'/';
    let mut at = skip(bytes, at, |byte| !is_break(byte) && byte != b'>');
    let mut count = 0;
    loop {
        at = skip(bytes, at, is_break);
        match bytes.get(at) {
            None => return (count, at),
            Some(b'>') => return (count, at + 1),
            Some(_) => count += 1,
        }
        if count > MAX_ATTRIBUTES {
            return (count, at);
        }
        // The first byte of a name may be `=`.
        at = skip(bytes, at + 1, |byte| !is_break(byte) && byte != b'>' && byte != b'=');
        at = skip(bytes, at, |byte| byte.is_ascii_whitespace());
        if bytes.get(at) != Some(&b'=') {
            continue;
        }
        at = skip(bytes, at + 1, |byte| byte.is_ascii_whitespace());
        at = match bytes.get(at) {
            Some(quote @ (b'"' | b'\'')) => {
                find(bytes, at + 1, &[*quote]).map_or(bytes.len(), |end| end + 1)
            }
            _ => skip(bytes, at, |byte| !byte.is_ascii_whitespace() && byte != b'>'),
        };
    }
}

fn skip(bytes: &[u8], at: usize, mut over: impl FnMut(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().position(|byte| !over(*byte)).map_or(bytes.len(), |found| at + found)
}

fn find(bytes: &[u8], at: usize, what: &[u8]) -> Option<usize> {
    let first = *what.first()?;
    let mut at = at;
    loop {
        let rest = bytes.get(at..)?;
        let found = at + rest.iter().position(|byte| *byte == first)?;
        if bytes[found..].starts_with(what) {
            return Some(found);
        }
        at = found + 1;
    }
}

/// Where the end tag of a raw element begins.
fn end_tag(bytes: &[u8], mut at: usize, name: &[u8]) -> usize {
    while let Some(found) = find(bytes, at, b"</") {
        let rest = &bytes[found + 2..];
        if rest.len() >= name.len() && rest[..name.len()].eq_ignore_ascii_case(name) {
            return found;
        }
        at = found + 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excess_attributes_are_found_anywhere() {
        let many = " a".repeat(MAX_ATTRIBUTES + 1);
        for page in [
            format!("<div{many}>"),
            format!("<div{many}"),
            format!("<p>x</p><DIV x='>'{many}>"),
            format!("</div{many}>"),
            format!("<!-- <div> --><div{many}>"),
            format!("<!--><div{many}>"),
            format!("<script>a</script><div{many}>"),
            format!("<div{}>", "/a".repeat(MAX_ATTRIBUTES + 1)),
            format!("<div{}>", " a=\"1\"".repeat(MAX_ATTRIBUTES + 1)),
            format!("<div{}>", " ==x".repeat(MAX_ATTRIBUTES + 1)),
        ] {
            assert!(check(&page).is_err(), "{}", &page[..60]);
        }
    }

    #[test]
    fn attribute_like_text_is_not_counted() {
        let many = " a".repeat(MAX_ATTRIBUTES + 1);
        for page in [
            format!("<div title='{many}'>"),
            format!("<div title=\"{many}\">"),
            format!("<div>{many}</div>"),
            format!("a < b{many}"),
            format!("<!-- <div{many} -->"),
            format!("<script>x<y{many}</script>"),
            format!("<Style>x<y{many}</sTYLE>"),
            format!("<div{}>", " a".repeat(MAX_ATTRIBUTES)),
            "<".to_owned(),
            "</".to_owned(),
            "<a".to_owned(),
            "<a b=".to_owned(),
            "<a b='".to_owned(),
            "<!--".to_owned(),
            "<script>".to_owned(),
        ] {
            assert_eq!(check(&page), Ok(()), "{page}");
        }
    }
}
