//! Pages as Markdown.

use std::rc::Rc;

use htmd::HtmlToMarkdown;

/// The converter calls itself for every level; deeper pages than this are attacks or accidents.
const MAX_DEPTH: usize = 256;

/// Parts of a page that nobody reads.
const SKIPPED: &[&str] = &["script", "style", "noscript", "template", "svg", "iframe", "head"];

/// Converts a page, or says why not.
pub(super) fn from_html(html: &str) -> Result<String, String> {
    let converter = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec()).build();
    let tree = converter.html_to_tree(html).map_err(|error| error.to_string())?;

    let mut level = vec![Rc::clone(&tree)];
    let mut depth = 0;
    while !level.is_empty() {
        depth += 1;
        if depth > MAX_DEPTH {
            return Err(format!("the page is nested more than {MAX_DEPTH} levels deep"));
        }
        level = level.iter().flat_map(|node| node.children.borrow().clone()).collect();
    }
    Ok(converter.tree_to_markdown(&tree))
}

#[cfg(test)]
mod tests {
    use super::from_html;

    #[test]
    fn what_is_read_stays_and_the_rest_goes() {
        let html = "<html><head><title>T</title><style>p{}</style></head><body><h1>Hi</h1>\
                    <script>alert(1)</script><p>A <a href=\"/x\">link</a>.</p></body></html>";
        assert_eq!(from_html(html).unwrap(), "# Hi\n\nA [link](/x).");
    }

    #[test]
    fn a_page_without_a_bottom_is_refused() {
        let deep = "<b>".repeat(100_000);
        assert!(from_html(&deep).unwrap_err().contains("256"));
    }
}
