//! Conversion of pages to Markdown.

use std::{
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use htmd::{
    Element, HtmlToMarkdown, Node,
    element_handler::{HandlerResult, Handlers},
};
use markup5ever_rcdom::NodeData;

use super::{stop::Stop, table, tags, tree};

/// Longer pages are cut: what is worth reading stands at the beginning.
pub(super) const MAX_HTML: usize = 2 * 1024 * 1024;

/// Quotes and lists write something before each line, at every level; no more than this is kept of any.
pub(super) const MAX_MARKDOWN: usize = 2 * 1024 * 1024;

/// The converter joins neighbors of one kind one by one, which takes long if there are very many.
const MAX_JOINED: usize = 200;

/// Elements of a page that are not content.
const SKIPPED: &[&str] = &["script", "style", "noscript", "template", "svg", "iframe", "head"];

/// Every element that the converter treats in its own way.
const HANDLED: &[&str] = &[
    "a",
    "address",
    "article",
    "aside",
    "b",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "code",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "em",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "html",
    "i",
    "img",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "pre",
    "search",
    "section",
    "span",
    "strong",
    "summary",
    "table",
    "tbody",
    "td",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];

/// Converts a page. Deadline and size limit are checked while the result grows.
pub(super) fn from_html(html: &str, stop: &Stop) -> Result<String, String> {
    let part = &html[..html.floor_char_boundary(MAX_HTML)];
    tags::check(part)?;
    let tree = parse_and_prepare(part, stop)?;
    let cut = Arc::new(AtomicBool::new(part.len() < html.len()));
    let mut text = converter(stop, &cut).tree_to_markdown(&tree);
    stop.check()?;
    if text.len() > MAX_MARKDOWN {
        shorten(&mut text, &cut);
    }
    if cut.load(Ordering::Relaxed) {
        text.push_str("\n\n[WebFetch note: the page is too long; this is the beginning of it.]");
    }
    Ok(text)
}

fn parse_and_prepare(html: &str, stop: &Stop) -> Result<Rc<Node>, String> {
    let tree = tree::parse(html, stop)?;
    let mut open = vec![Rc::clone(&tree)];
    while let Some(node) = open.pop() {
        keep_apart(&node);
        open.extend(node.children.borrow().iter().cloned());
    }
    Ok(tree)
}

/// Puts something that is not shown between the children of a node that has very many.
fn keep_apart(node: &Node) {
    let mut children = node.children.borrow_mut();
    if children.len() > MAX_JOINED {
        let old = std::mem::take(&mut *children);
        let between = || Node::new(NodeData::Comment { contents: "".into() });
        *children = old.into_iter().flat_map(|child| [child, between()]).collect();
    }
}

/// The converter, with a look at every element before and after it.
fn converter(stop: &Stop, cut: &Arc<AtomicBool>) -> HtmlToMarkdown {
    let (stop, cut) = (stop.clone(), Arc::clone(cut));
    let bounded = move |handlers: &dyn Handlers, element: Element<'_>| -> Option<HandlerResult> {
        // What has to stop has no way to say so: it ends by leaving everything else out.
        stop.check().ok()?;
        let padded = element.tag == "table" && table::is_too_wide(element.node);
        let mut result = match padded {
            true => Some(handlers.walk_children(element.node)),
            false => handlers.fallback(element),
        }?;
        if result.content.len() > MAX_MARKDOWN {
            shorten(&mut result.content, &cut);
        }
        Some(result)
    };
    HtmlToMarkdown::builder()
        .add_handler(HANDLED.to_vec(), bounded)
        .skip_tags(SKIPPED.to_vec())
        .build()
}

fn shorten(text: &mut String, cut: &AtomicBool) {
    text.truncate(text.floor_char_boundary(MAX_MARKDOWN));
    cut.store(true, Ordering::Relaxed);
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
