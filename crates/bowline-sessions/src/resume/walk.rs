//! Finding the live conversation in a transcript, from its end backwards.
//!
//! Only heads are read, and only as far back as the conversation goes: what
//! lies before the last compaction is not even looked at, apart from the lines
//! that the compaction kept.

use std::{
    collections::{HashMap, HashSet},
    io,
    path::Path,
};

use crate::{
    head::{Id, Kind, LineHead},
    line::SystemLine,
    parallel,
    scan::{BackwardLines, Span},
};

/// Whose conversation to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The session's; what subagents say is passed over.
    Session,
    /// A subagent's, in its own transcript.
    Subagent,
}

/// Which end of the conversation to take up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The newest, as the transcript tells it.
    Newest,
    /// This line.
    Line(Id),
}

/// The live lines of a transcript and the notes beside them.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The lines of the conversation in order; empty when there is none.
    pub(super) lines: Vec<LineHead>,
    /// The names of all lines met.
    pub(super) known: HashSet<Id>,
    /// The last note of each kind.
    pub(super) notes: HashMap<NoteKind, Span>,
}

/// The notes that a resumed session looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum NoteKind {
    CustomTitle,
    AiTitle,
    Tag,
    Mode,
    CostState,
    ToolsUsed,
}

/// Finds the conversation that ends at `end`; `None` if there is no such line.
pub(super) fn find(path: &Path, speaker: Speaker, end: End) -> io::Result<Option<Found>> {
    let mut lines = BackwardLines::open(path)?;
    let mut search = Search::new(speaker, end);
    while !search.is_done() {
        let looked = lines.next(|span, line| {
            if let Some(head) = LineHead::read(span, line) {
                search.meet(head, line);
            }
        })?;
        if looked.is_none() {
            break;
        }
    }
    Ok(search.finish())
}

/// A way from a line back to its root.
#[derive(Debug, Default)]
struct Way {
    /// From the leaf to as far back as is known; places in `Search::heads`.
    steps: Vec<usize>,
    passed: HashSet<usize>,
    /// The line it goes on with.
    next: Option<Id>,
    /// What a compaction at its root kept.
    kept: Option<Kept>,
}

/// Lines before a compaction that stay in the conversation, behind its summary.
#[derive(Debug)]
enum Kept {
    /// Named one by one.
    Lines(Vec<Id>),
    /// From one line back to another.
    Stretch { head: Id, next: Option<Id>, steps: Vec<usize> },
}

#[derive(Debug)]
struct Search {
    speaker: Speaker,
    /// The chain lines met so far, last first.
    heads: Vec<LineHead>,
    by_id: HashMap<Id, usize>,
    known: HashSet<Id>,
    notes: HashMap<NoteKind, Span>,
    /// The line to start from, if one is named.
    named: Option<Id>,
    /// Whether only the named line will do.
    strict: bool,
    from_named: Option<Way>,
    from_last: Option<Way>,
}

impl Search {
    fn new(speaker: Speaker, end: End) -> Self {
        let (named, strict) = match end {
            End::Newest => (None, false),
            End::Line(id) => (Some(id), true),
        };
        Self {
            speaker,
            heads: Vec::new(),
            by_id: HashMap::new(),
            known: HashSet::new(),
            notes: HashMap::new(),
            named,
            strict,
            from_named: None,
            from_last: None,
        }
    }

    fn meet(&mut self, head: LineHead, line: &[u8]) {
        if let Some(kind) = note_kind(head.kind) {
            self.notes.entry(kind).or_insert(head.span);
            return;
        }
        if head.kind == Kind::LastPrompt {
            // Written after everything else, it says where the conversation ends. Lines written
            // after it have gone on since.
            if !self.strict && self.from_last.is_none() && self.named.is_none() {
                self.named = head.leaf;
            }
            return;
        }
        if !head.kind.is_chain() {
            return;
        }
        let place = self.heads.len();
        let is_ours = head.is_main() || self.speaker == Speaker::Subagent;
        let id = head.uuid;
        self.heads.push(head);
        if let Some(id) = id {
            self.known.insert(id);
            self.by_id.entry(id).or_insert(place);
        }
        if is_ours && self.from_last.is_none() && !self.strict {
            self.from_last = Some(Way::default());
            self.step(Which::Last, place, line);
        }
        if id.is_some() && id == self.named && self.from_named.is_none() {
            self.from_named = Some(Way::default());
            self.step(Which::Named, place, line);
        }
        for which in [Which::Named, Which::Last] {
            let Some(way) = self.way(which) else { continue };
            if id.is_some() && way.next == id {
                self.step(which, place, line);
            }
            if let Some(id) = id {
                self.keep(which, id, place);
            }
        }
    }

    /// Adds the line at `place` to a way, and all its ancestors that were met before it: a parent
    /// that stands behind its child is unusual, but does no harm unless they form a loop.
    fn step(&mut self, which: Which, mut place: usize, line: &[u8]) {
        let Self { heads, by_id, from_named, from_last, .. } = self;
        let way = match which {
            Which::Named => from_named,
            Which::Last => from_last,
        };
        let Some(way) = way else { return };
        loop {
            let head = &heads[place];
            if !way.passed.insert(place) {
                way.next = None;
                return;
            }
            way.steps.push(place);
            if head.kind == Kind::CompactBoundary {
                way.next = None;
                way.kept = kept_by(line);
                return;
            }
            way.next = head.parent;
            match head.parent.and_then(|parent| by_id.get(&parent)) {
                Some(&met) => place = met,
                None => return,
            }
        }
    }

    /// Notes that a line which a compaction kept was met.
    fn keep(&mut self, which: Which, id: Id, place: usize) {
        let parent = self.heads[place].parent;
        let Some(Kept::Stretch { head, next, steps }) =
            self.way_mut(which).and_then(|way| way.kept.as_mut())
        else {
            return;
        };
        if *next == Some(id) {
            steps.push(place);
            *next = if id == *head { None } else { parent };
        }
    }

    fn way(&self, which: Which) -> Option<&Way> {
        match which {
            Which::Named => self.from_named.as_ref(),
            Which::Last => self.from_last.as_ref(),
        }
    }

    fn way_mut(&mut self, which: Which) -> Option<&mut Way> {
        match which {
            Which::Named => self.from_named.as_mut(),
            Which::Last => self.from_last.as_mut(),
        }
    }

    fn is_done(&self) -> bool {
        let way = match (&self.named, &self.from_named, &self.from_last) {
            (Some(_), way, _) => way.as_ref(),
            (None, _, way) => way.as_ref(),
        };
        way.is_some_and(|way| {
            way.next.is_none()
                && match &way.kept {
                    None => true,
                    Some(Kept::Lines(ids)) => ids.iter().all(|id| self.by_id.contains_key(id)),
                    Some(Kept::Stretch { next, .. }) => next.is_none(),
                }
        })
    }

    fn finish(mut self) -> Option<Found> {
        let way = match (self.from_named.take(), self.from_last.take()) {
            (Some(way), _) => way,
            (None, Some(way)) if !self.strict => way,
            (None, _) if self.strict => return None,
            (None, _) => Way::default(),
        };
        let mut places: Vec<usize> = way.steps.iter().rev().copied().collect();
        if let Some(kept) = &way.kept {
            let kept: Vec<usize> = match kept {
                Kept::Lines(ids) => {
                    ids.iter().filter_map(|id| self.by_id.get(id).copied()).collect()
                }
                Kept::Stretch { steps, .. } => steps.iter().rev().copied().collect(),
            };
            // Behind the boundary and its summary, which are the first two.
            let behind = places.len().min(2);
            places.splice(behind..behind, kept);
        }
        // Last first, and what came before the last compaction is not among them.
        self.heads.reverse();
        let last = self.heads.len();
        let places = places.into_iter().map(|place| last - 1 - place).collect();
        let lines = parallel::complete(&self.heads, places);
        let lines = lines.into_iter().map(|place| self.heads[place].clone()).collect();
        Some(Found { lines, known: self.known, notes: self.notes })
    }
}

#[derive(Debug, Clone, Copy)]
enum Which {
    Named,
    Last,
}

fn kept_by(line: &[u8]) -> Option<Kept> {
    let boundary: SystemLine = serde_json::from_slice(line).ok()?;
    let metadata = boundary.compact_metadata?;
    if let Some(messages) = metadata.preserved_messages {
        let all = if messages.all_uuids.is_empty() { messages.uuids } else { messages.all_uuids };
        return Some(Kept::Lines(all.iter().map(|id| Id::new(id.as_str())).collect()));
    }
    let stretch = metadata.preserved_segment?;
    Some(Kept::Stretch {
        head: Id::new(stretch.head_uuid.as_str()),
        next: Some(Id::new(stretch.tail_uuid.as_str())),
        steps: Vec::new(),
    })
}

fn note_kind(kind: Kind) -> Option<NoteKind> {
    Some(match kind {
        Kind::CustomTitle => NoteKind::CustomTitle,
        Kind::AiTitle => NoteKind::AiTitle,
        Kind::Tag => NoteKind::Tag,
        Kind::Mode => NoteKind::Mode,
        Kind::CostState => NoteKind::CostState,
        Kind::ToolsUsed => NoteKind::ToolsUsed,
        _ => return None,
    })
}
