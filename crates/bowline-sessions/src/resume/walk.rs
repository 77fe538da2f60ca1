//! Finding the live conversation in a transcript, from its end backwards.
//!
//! Nothing is read twice, and only as far back as the conversation goes: what
//! lies before the last compaction is not even looked at, apart from the lines
//! that the compaction kept. What turns out not to be live is dropped at once.

use std::{collections::HashMap, io, path::Path, thread};

use super::parse::{Depth, Line, Parsed};
use crate::{
    head::{Id, IdMap, IdSet, Kind, LineHead},
    line::SystemLine,
    parallel,
    scan::{BackwardBlocks, Span},
};

/// Conversation to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The session's; lines of subagents are skipped.
    Session,
    /// A subagent's, in its own transcript.
    Subagent,
}

/// Which end of the conversation to resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The newest, according to the transcript.
    Newest,
    /// This line.
    Line(Id),
}

/// The live lines of a transcript and the notes beside them.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The lines of the conversation in order, as indexes into `heads`; may be empty.
    pub(super) order: Vec<usize>,
    /// The lines met, as they stand in the file.
    pub(super) heads: Vec<LineHead>,
    /// Their content, as far as it was read.
    pub(super) parsed: Vec<Option<Parsed>>,
    /// The names of all lines met.
    pub(super) known: IdSet,
    /// The last note of each kind.
    pub(super) notes: HashMap<NoteKind, Span>,
}

impl Found {
    /// The last line of the conversation of which something is true.
    pub(super) fn last(&self, is: impl Fn(&LineHead) -> bool) -> Option<Span> {
        let heads = self.order.iter().map(|&index| &self.heads[index]);
        heads.rev().find(|head| is(head)).map(|head| head.span)
    }
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
    let mut blocks = BackwardBlocks::open(path)?;
    let mut search = Search::new(speaker, end);
    while !search.is_done()
        && let Some((offset, block)) = blocks.next()?
    {
        for part in read_lines(offset, block, search.depth()).into_iter().rev() {
            for line in part.into_iter().rev() {
                if search.is_done() {
                    break;
                }
                let Span { offset: at, length } = line.head.span;
                let begin = usize::try_from(at - offset).unwrap_or_default();
                search.meet(line, &block[begin..begin + length]);
            }
        }
    }
    Ok(search.finish())
}

/// A part smaller than this is read before a thread for it would be there.
const SMALLEST_PART: usize = 512 * 1024;

/// Reads the lines of a block, in parts that follow each other.
fn read_lines(offset: u64, block: &[u8], depth: Depth) -> Vec<Vec<Line>> {
    let most = super::threads().min(block.len() / SMALLEST_PART).max(1);
    let parts = split(block, most);
    if let [(_, part)] = parts[..] {
        return vec![lines_in(offset, part, depth)];
    }
    thread::scope(|scope| {
        let lines_in =
            |(begin, part): &(usize, &'_ [u8])| lines_in(offset + *begin as u64, part, depth);
        let (own, others) = parts.split_at(1);
        let others: Vec<_> =
            others.iter().map(|part| scope.spawn(move || lines_in(part))).collect();
        let mut lines: Vec<_> = own.iter().map(lines_in).collect();
        let joined = others.into_iter().map(|part| part.join());
        lines.extend(joined.map(|part| part.unwrap_or_else(|it| std::panic::resume_unwind(it))));
        lines
    })
}

/// Cuts a block into parts of whole lines, each with its offset in the block.
fn split(block: &[u8], most: usize) -> Vec<(usize, &[u8])> {
    let mut parts = Vec::with_capacity(most);
    let mut begin = 0;
    for part in 1..most {
        let about = block.len() / most * part;
        let newline = memchr::memchr(b'\n', &block[about.max(begin)..]);
        let Some(end) = newline.map(|newline| about.max(begin) + newline + 1) else { break };
        parts.push((begin, &block[begin..end]));
        begin = end;
    }
    parts.push((begin, &block[begin..]));
    parts
}

/// Byte order mark.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn lines_in(offset: u64, lines: &[u8], depth: Depth) -> Vec<Line> {
    let mut read = Vec::new();
    let has_mark = offset == 0 && lines.starts_with(BYTE_ORDER_MARK);
    let mut begin = if has_mark { BYTE_ORDER_MARK.len() } else { 0 };
    while begin < lines.len() {
        let length = memchr::memchr(b'\n', &lines[begin..]).unwrap_or(lines.len() - begin);
        let span = Span { offset: offset + begin as u64, length };
        read.extend(Line::read(span, &lines[begin..begin + length], depth));
        begin += length + 1;
    }
    read
}

/// A way from a line back to its root.
#[derive(Debug, Default)]
struct Way {
    /// From the leaf to as far back as is known; indexes into `Search::heads`.
    steps: Vec<usize>,
    /// Whether each index was passed.
    passed: Vec<bool>,
    /// The line it goes on with.
    next: Option<Id>,
    /// Lines that a compaction at its root kept.
    kept: Option<Kept>,
}

/// Lines before a compaction that stay in the conversation, after its summary.
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
    /// Content of those on a path, as far as it was read.
    parsed: Vec<Option<Parsed>>,
    by_id: IdMap<usize>,
    notes: HashMap<NoteKind, Span>,
    /// The line to start from, if one is named.
    named: Option<Id>,
    /// Whether only the named line will do.
    strict: bool,
    from_named: Option<Way>,
    from_last: Option<Way>,
    /// Whether the last line was met, from which the second way starts if it is not the named one.
    met_last: bool,
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
            parsed: Vec::new(),
            by_id: IdMap::default(),
            notes: HashMap::new(),
            named,
            strict,
            from_named: None,
            from_last: None,
            met_last: false,
        }
    }

    /// How much to read of the lines that come next: before a line that is named, only its head
    /// is of interest.
    fn depth(&self) -> Depth {
        match self.strict && self.from_named.is_none() {
            true => Depth::Heads,
            false => Depth::Whole,
        }
    }

    fn meet(&mut self, Line { head, parsed }: Line, line: &[u8]) {
        if let Some(kind) = note_kind(head.kind) {
            self.notes.entry(kind).or_insert(head.span);
            return;
        }
        if head.kind == Kind::LastPrompt {
            // Written after everything else, it marks the end of the conversation. Lines written
            // after it have gone on since.
            if !self.strict && !self.met_last && self.named.is_none() {
                self.named = head.leaf;
            }
            return;
        }
        if !head.kind.is_chain() {
            return;
        }
        let index = self.heads.len();
        let is_ours = head.is_main() || self.speaker == Speaker::Subagent;
        // A boundary at the very end lost its summary in a crash: the compaction did not happen.
        let can_end = is_ours && head.kind != Kind::CompactBoundary;
        let id = head.uuid;
        self.heads.push(head);
        if let Some(id) = id {
            self.by_id.entry(id).or_insert(index);
        }
        if can_end && !self.met_last && !self.strict {
            self.met_last = true;
            if id.is_none() || id != self.named {
                self.from_last = Some(Way::default());
                self.step(Which::Last, index, line);
            }
        }
        if id.is_some() && id == self.named && self.from_named.is_none() {
            self.from_named = Some(Way::default());
            self.step(Which::Named, index, line);
        }
        for which in [Which::Named, Which::Last] {
            let Some(way) = self.way(which) else { continue };
            if id.is_some() && way.next == id {
                self.step(which, index, line);
            }
            if let Some(id) = id {
                self.keep(which, id, index);
            }
        }
        self.parsed.push(parsed.filter(|_| self.is_on_a_way(index)));
    }

    fn is_on_a_way(&self, index: usize) -> bool {
        let ways = [&self.from_named, &self.from_last];
        ways.into_iter().flatten().any(|way| way.passed.get(index) == Some(&true))
    }

    /// Adds the line at `index` to a path, and all its ancestors that were met before it: a parent
    /// that comes after its child is unusual, but does no harm unless they form a loop.
    fn step(&mut self, which: Which, mut index: usize, line: &[u8]) {
        let Self { heads, by_id, from_named, from_last, .. } = self;
        let way = match which {
            Which::Named => from_named,
            Which::Last => from_last,
        };
        let Some(way) = way else { return };
        loop {
            let head = &heads[index];
            if way.passed.len() < heads.len() {
                way.passed.resize(heads.len(), false);
            }
            if std::mem::replace(&mut way.passed[index], true) {
                way.next = None;
                return;
            }
            way.steps.push(index);
            if head.kind == Kind::CompactBoundary {
                way.next = None;
                way.kept = kept_by(line);
                return;
            }
            way.next = head.parent;
            match head.parent.and_then(|parent| by_id.get(&parent)) {
                Some(&met) => index = met,
                None => return,
            }
        }
    }

    /// Notes that a line which a compaction kept was met.
    fn keep(&mut self, which: Which, id: Id, index: usize) {
        let parent = self.heads[index].parent;
        let Some(Kept::Stretch { head, next, steps }) =
            self.way_mut(which).and_then(|way| way.kept.as_mut())
        else {
            return;
        };
        if *next == Some(id) {
            steps.push(index);
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
        let mut indexes: Vec<usize> = way.steps.iter().rev().copied().collect();
        if let Some(kept) = &way.kept {
            let kept: Vec<usize> = match kept {
                Kept::Lines(ids) => {
                    ids.iter().filter_map(|id| self.by_id.get(id).copied()).collect()
                }
                Kept::Stretch { steps, .. } => steps.iter().rev().copied().collect(),
            };
            // After the boundary and its summary, which are the first two.
            let after_summary = indexes.len().min(2);
            indexes.splice(after_summary..after_summary, kept);
        }
        // Last first, and what came before the last compaction is not among them.
        self.heads.reverse();
        self.parsed.reverse();
        let last = self.heads.len();
        let indexes = indexes.into_iter().map(|index| last - 1 - index).collect();
        let order = parallel::complete(&self.heads, indexes);
        let Self { heads, parsed, by_id, notes, .. } = self;
        Some(Found { order, heads, parsed, known: by_id.into_keys().collect(), notes })
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
