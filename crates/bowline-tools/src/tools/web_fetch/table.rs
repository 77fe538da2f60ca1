//! Size of a Markdown table once its columns are padded to equal width.

use std::rc::Rc;

use htmd::Node;
use markup5ever_rcdom::NodeData;

/// A table that needs more bytes is shown without columns.
const MAX_BYTES: usize = 1024 * 1024;

/// Whether a long cell would blow every row up.
pub(super) fn is_too_wide(table: &Rc<Node>) -> bool {
    let mut widths: Vec<usize> = Vec::new();
    let mut rows: usize = 0;
    for row in rows_of(table) {
        rows += 1;
        let cells = row.children.borrow();
        let cells = cells.iter().filter(|cell| matches!(name(cell), "td" | "th"));
        for (column, cell) in cells.enumerate() {
            let width = text_length(cell);
            match widths.get_mut(column) {
                Some(widest) => *widest = (*widest).max(width),
                None => widths.push(width),
            }
        }
    }
    // Each column has three more characters around it.
    let row = widths.iter().fold(0_usize, |sum, width| sum.saturating_add(width + 3));
    row.saturating_mul(rows) > MAX_BYTES
}

/// The rows of a table, but not those of tables inside.
fn rows_of(table: &Rc<Node>) -> Vec<Rc<Node>> {
    let mut rows = Vec::new();
    for child in table.children.borrow().iter() {
        match name(child) {
            "tr" => rows.push(Rc::clone(child)),
            "thead" | "tbody" | "tfoot" => {
                let inside = child.children.borrow();
                rows.extend(inside.iter().filter(|row| name(row) == "tr").cloned());
            }
            _ => {}
        }
    }
    rows
}

/// How much text is in a node. Markup adds to it, but not often much.
fn text_length(node: &Rc<Node>) -> usize {
    let mut length = 0;
    let mut open = vec![Rc::clone(node)];
    while let Some(node) = open.pop() {
        match &node.data {
            NodeData::Text { contents } => length += contents.borrow().len(),
            // An address is written out.
            NodeData::Element { attrs, .. } => {
                length += attrs.borrow().iter().map(|attr| attr.value.len()).sum::<usize>();
            }
            _ => {}
        }
        open.extend(node.children.borrow().iter().cloned());
    }
    length
}

fn name(node: &Node) -> &str {
    match &node.data {
        NodeData::Element { name, .. } => &name.local,
        _ => "",
    }
}
