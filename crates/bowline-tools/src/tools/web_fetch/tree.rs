//! Parsing a page into a tree, within limits that hold while the tree grows.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
};

use html5ever::{
    Attribute, ExpandedName, ParseOpts, QualName, parse_document,
    tendril::{StrTendril, TendrilSink},
    tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink},
};
use markup5ever_rcdom::{Handle, Node, RcDom};

use super::stop::Stop;

/// The converter calls itself for every level; deeper pages than this are attacks or accidents.
pub(super) const MAX_DEPTH: usize = 256;

/// Unclosed formatting elements are copied into every paragraph that follows, so a small page can
/// describe a tree without end.
const MAX_ELEMENTS: usize = 250_000;

/// How much is parsed before the limits are looked at.
const CHUNK: usize = 4096;

/// Parses a page.
pub(super) fn parse(html: &str, stop: &Stop) -> Result<Rc<Node>, String> {
    let limits = Rc::<Limits>::default();
    let sink = Bounded { dom: RcDom::default(), limits: Rc::clone(&limits) };
    let mut parser = parse_document(sink, ParseOpts::default());
    let mut rest = html;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.ceil_char_boundary(CHUNK.min(rest.len())));
        parser.process(StrTendril::from_slice(chunk));
        stop.check()?;
        limits.check()?;
        rest = after;
    }
    let tree = parser.finish().document;
    limits.check()?;
    check_depth(&tree)?;
    Ok(tree)
}

/// What grows while a page is parsed.
#[derive(Default)]
struct Limits {
    elements: Cell<usize>,
    too_deep: Cell<bool>,
    /// How deep the contents of templates are: they are trees of their own.
    templates: RefCell<HashMap<*const Node, usize>>,
}

impl Limits {
    fn check(&self) -> Result<(), String> {
        if self.too_deep.get() {
            return Err(too_deep());
        }
        if self.elements.get() > MAX_ELEMENTS {
            return Err(format!("the page has more than {MAX_ELEMENTS} elements"));
        }
        Ok(())
    }

    /// How far a node is from the top, as far as it matters.
    fn depth(&self, node: &Handle) -> usize {
        let mut depth = 0;
        let mut current = Rc::clone(node);
        while depth <= MAX_DEPTH {
            let parent = current.parent.take();
            let above = parent.as_ref().and_then(std::rc::Weak::upgrade);
            current.parent.set(parent);
            let Some(above) = above else {
                let base = self.templates.borrow().get(&Rc::as_ptr(&current)).copied();
                return depth + base.unwrap_or(0);
            };
            depth += 1;
            current = above;
        }
        depth
    }

    fn attached(&self, node: Option<Handle>) {
        if node.is_some_and(|node| self.depth(&node) > MAX_DEPTH) {
            self.too_deep.set(true);
        }
    }
}

fn too_deep() -> String {
    format!("the page is nested more than {MAX_DEPTH} levels deep")
}

/// Moving nodes can make a tree deeper than it was when they were attached.
fn check_depth(tree: &Rc<Node>) -> Result<(), String> {
    let mut level = vec![Rc::clone(tree)];
    for _ in 0..=MAX_DEPTH {
        level = level.iter().flat_map(|node| node.children.borrow().clone()).collect();
        if level.is_empty() {
            return Ok(());
        }
    }
    Err(too_deep())
}

/// A tree that knows how large it is. Errors of the page are of no interest.
struct Bounded {
    dom: RcDom,
    limits: Rc<Limits>,
}

fn node_of(child: &NodeOrText<Handle>) -> Option<Handle> {
    match child {
        NodeOrText::AppendNode(node) => Some(Rc::clone(node)),
        NodeOrText::AppendText(_) => None,
    }
}

impl TreeSink for Bounded {
    type Handle = Handle;
    type Output = RcDom;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> RcDom {
        self.dom
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        self.dom.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        self.dom.elem_name(target)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Handle {
        self.limits.elements.set(self.limits.elements.get() + 1);
        self.dom.create_element(name, attrs, flags)
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        self.limits.elements.set(self.limits.elements.get() + 1);
        self.dom.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Handle {
        self.dom.create_pi(target, data)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        let node = node_of(&child);
        self.dom.append(parent, child);
        self.limits.attached(node);
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let node = node_of(&child);
        self.dom.append_before_sibling(sibling, child);
        self.limits.attached(node);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        previous: &Handle,
        child: NodeOrText<Handle>,
    ) {
        let node = node_of(&child);
        self.dom.append_based_on_parent_node(element, previous, child);
        self.limits.attached(node);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        self.dom.append_doctype_to_document(name, public, system);
    }

    fn get_template_contents(&self, target: &Handle) -> Handle {
        let contents = self.dom.get_template_contents(target);
        let depth = self.limits.depth(target) + 1;
        self.limits.templates.borrow_mut().insert(Rc::as_ptr(&contents), depth);
        contents
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        self.dom.same_node(x, y)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.dom.set_quirks_mode(mode);
    }

    fn add_attrs_if_missing(&self, target: &Handle, attrs: Vec<Attribute>) {
        // A page may repeat `<body>` with other attributes without end.
        self.limits.elements.set(self.limits.elements.get() + attrs.len());
        self.dom.add_attrs_if_missing(target, attrs);
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.dom.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        self.dom.reparent_children(node, new_parent);
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &Handle) -> bool {
        self.dom.is_mathml_annotation_xml_integration_point(handle)
    }
}
