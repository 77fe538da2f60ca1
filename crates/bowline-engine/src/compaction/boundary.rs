//! Boundary of a compaction: written to the transcript, then sent to the host.

use bowline_protocol::{
    CompactBoundaryMessage, CompactMetadata, CompactTrigger, Content, ContentBlock, Maybe,
    PreservedMessages, PreservedSegment, UserMessage,
};
use bowline_sessions as sessions;

use super::Compacted;
use crate::{agent::Agent, clock::timestamp, journal::KeptTail, sink::new_uuid};

impl Agent {
    /// Writes the boundary and the summary into the transcript.
    pub(super) async fn write_boundary(
        &self,
        mut metadata: CompactMetadata,
        continuation: String,
        hook_lines: Vec<String>,
        kept: KeptTail,
    ) -> Compacted {
        let (boundary, summary) = (new_uuid(), new_uuid());
        let logical_parent = self.journal().leaf();
        let lines = self.journal().lines_of(kept);
        if let (Some(head), Some(tail)) = (lines.first(), lines.last()) {
            metadata.preserved_segment = Some(PreservedSegment {
                head_uuid: head.clone(),
                anchor_uuid: summary.clone(),
                tail_uuid: tail.clone(),
                ..PreservedSegment::default()
            });
            metadata.preserved_messages = Some(PreservedMessages {
                anchor_uuid: summary.clone(),
                uuids: lines.clone(),
                all_uuids: Some(lines),
                ..PreservedMessages::default()
            });
        }
        let written = self
            .journal()
            .compaction((&boundary, on_disk(&metadata)), (&summary, continuation.as_str()));
        self.session.sink.emit_notice(written).await;
        Compacted { metadata, logical_parent, boundary, summary, continuation, hook_lines }
    }

    /// Notifies the host, except about a subagent's compaction.
    pub(crate) async fn announce_compaction(&self, compacted: &Compacted) {
        if !self.identity.is_main() {
            return;
        }
        let sink = &self.session.sink;
        let boundary = CompactBoundaryMessage {
            compact_metadata: compacted.metadata.clone(),
            logical_parent_uuid: compacted
                .logical_parent
                .clone()
                .map_or(Maybe::Absent, Maybe::Value),
            ..CompactBoundaryMessage::default()
        };
        sink.send_as(compacted.boundary.clone(), boundary).await;
        let text = compacted.continuation.as_str();
        let mut frame = match compacted.metadata.trigger {
            CompactTrigger::Manual => {
                let mut frame = UserMessage::prompt(Content::from(text));
                frame.is_replay = Some(false);
                frame
            }
            _ => UserMessage::prompt(vec![ContentBlock::text(text)]),
        };
        frame.is_synthetic = Some(true);
        frame.timestamp = Some(timestamp());
        sink.send_as(compacted.summary.clone(), frame).await;
    }
}

/// The metadata in the transcript's format.
fn on_disk(metadata: &CompactMetadata) -> sessions::CompactMetadata {
    let segment = metadata.preserved_segment.as_ref();
    let messages = metadata.preserved_messages.as_ref();
    sessions::CompactMetadata {
        trigger: metadata.trigger.to_string(),
        pre_tokens: metadata.pre_tokens,
        post_tokens: metadata.post_tokens,
        duration_ms: metadata.duration_ms,
        cumulative_dropped_tokens: metadata.cumulative_dropped_tokens,
        preserved_segment: segment.map(|segment| sessions::PreservedSegment {
            head_uuid: segment.head_uuid.clone(),
            anchor_uuid: segment.anchor_uuid.clone(),
            tail_uuid: segment.tail_uuid.clone(),
        }),
        preserved_messages: messages.map(|messages| sessions::PreservedMessages {
            anchor_uuid: messages.anchor_uuid.clone(),
            uuids: messages.uuids.clone(),
            all_uuids: messages.all_uuids.clone().unwrap_or_default(),
        }),
        ..sessions::CompactMetadata::default()
    }
}
