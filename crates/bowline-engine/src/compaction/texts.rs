//! Texts of compactions: the request for a summary, and the message that replaces the conversation.

use bowline_protocol::{CompactTrigger, ContentBlock, Role};
use bowline_tools::TodoStatus;

use crate::{agent::Agent, context::tokens, journal::KeptTail};

/// The maximum number of files in the continuation.
const FILES_NAMED: usize = 40;
/// A prompt longer than this, in tokens, is not repeated: the summary covers it.
const PROMPT_LIMIT: u64 = 4_000;

/// The beginning of the message that replaces a conversation.
const HEAD: &str = "The conversation so far outgrew the context and was replaced by this summary:";
/// The tags around the request in it, by which the next compaction finds it.
const REQUEST: (&str, &str) = ("<request>\n", "\n</request>");

/// The request for a summary.
///
/// (Script models recognize the request by its length.)
pub(super) fn request(wishes: &[String]) -> String {
    let mut text = "\
The conversation is about to outgrow the context. Everything above this message will be replaced by \
the summary you write now, and you will go on working from that summary alone. Whatever you leave \
out is lost, so write for a colleague who takes over in the middle of the work and cannot ask.

Do not call tools and do not continue the work. Answer with one block in <summary> tags, and inside \
it these sections, each with what the conversation really contains (write \"none\" where there is \
nothing):

1. Task: what the person wants, in full, with every requirement, limit and preference they stated. \
Quote their own words where the wording matters. If the task changed on the way, say how, and which \
version holds now.
2. Person's messages: what the person said besides the task, in order: corrections, answers, \
feedback. Leave out nothing that changes what has to be done.
3. Decisions: what was decided and why; what was tried and rejected, so that it is not tried again.
4. Files: every file read, created, changed or deleted that still matters, by its full path, with \
what is in it or what was done to it. Give exact names of functions, types, settings and commands, \
and the essential lines of code where the rest cannot be understood without them.
5. Facts: what was found out about the code, the environment and the tools; commands that work; \
errors that occurred, their causes, and how they were solved.
6. State: what is done and checked, what is half done, and what was going on at the very end.
7. Open to-dos: what is still to be done, in order, each so that it can be begun at once. First of \
all the next step, with the exact place to continue from.

Be exact rather than short, but do not repeat yourself, and do not invent anything."
        .to_owned();
    if !wishes.is_empty() {
        text.push_str("\n\nFor this summary, heed this in particular:\n");
        text.push_str(&wishes.join("\n\n"));
    }
    text
}

/// The summary: the text between the tags, or all of it.
pub(super) fn summary(response: &str) -> &str {
    let begin = response.find("<summary>").map_or(0, |at| at + "<summary>".len());
    let end = response.rfind("</summary>").filter(|end| *end >= begin).unwrap_or(response.len());
    response[begin..end].trim()
}

impl Agent {
    /// The message that replaces everything before it.
    pub(super) fn continuation(
        &self,
        response: &str,
        trigger: &CompactTrigger,
        kept: KeptTail,
    ) -> String {
        let mut parts = vec![format!("{HEAD}\n\n{}", summary(response))];
        if *trigger == CompactTrigger::Auto && kept != KeptTail::Prompt {
            parts.extend(self.newest_prompt().map(|prompt| {
                format!(
                    "The request that is being worked on, word for word:\n{}{prompt}{}",
                    REQUEST.0, REQUEST.1
                )
            }));
        }
        parts.extend(self.open_todos());
        parts.extend(self.files_seen());
        let transcript = self.session.journal.transcript_path();
        if !transcript.is_empty() {
            parts.push(format!(
                "The whole conversation is in {transcript}, one JSON object per line, should a detail be \
                 missing."
            ));
        }
        if *trigger == CompactTrigger::Auto {
            parts.push(
                "Go on with the work from where it was, without a word about this summary."
                    .to_owned(),
            );
        }
        parts.join("\n\n")
    }

    /// The newest prompt of the user, if it is not too long.
    fn newest_prompt(&self) -> Option<String> {
        let is_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(_));
        let messages = self.conversation.messages().iter().rev();
        let mut prompts =
            messages.filter(|it| it.role == Role::User && !it.content.iter().any(is_result));
        let texts = prompts.next()?.content.iter().filter_map(ContentBlock::as_text);
        let own = texts.filter(|text| !text.trim_start().starts_with("<system-reminder>"));
        let prompt = own.filter_map(request_in).collect::<Vec<_>>().join("\n");
        (!prompt.is_empty() && tokens::of_text(&prompt) <= PROMPT_LIMIT).then_some(prompt)
    }

    fn open_todos(&self) -> Option<String> {
        let todos = self.workspace.todos().get().into_iter();
        let open = todos.filter(|todo| todo.status != TodoStatus::Completed).map(|todo| {
            let mark = if todo.status == TodoStatus::InProgress { " (in progress)" } else { "" };
            format!("- {}{mark}", todo.content)
        });
        listed("Open to-dos:", open.collect())
    }

    fn files_seen(&self) -> Option<String> {
        let mut paths = self.workspace.seen().paths();
        paths.sort();
        let named = paths.iter().take(FILES_NAMED).map(|path| format!("- {}", path.display()));
        listed(
            "Files read or written so far (read them again before you rely on them):",
            named.collect(),
        )
    }
}

/// The user's prompt in a text: all of it, or the one that an earlier compaction kept.
fn request_in(text: &str) -> Option<&str> {
    if !text.starts_with(HEAD) {
        return Some(text);
    }
    let begin = text.find(REQUEST.0)? + REQUEST.0.len();
    let end = text.rfind(REQUEST.1).filter(|end| *end >= begin)?;
    Some(&text[begin..end])
}

fn listed(head: &str, lines: Vec<String>) -> Option<String> {
    (!lines.is_empty()).then(|| format!("{head}\n{}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::summary;

    #[test]
    fn the_summary_is_what_the_tags_enclose_if_there_are_any() {
        for (response, found) in [
            ("<summary> a </summary>", "a"),
            ("thoughts <summary>a</summary> more", "a"),
            ("plain words", "plain words"),
            ("<summary>never closed", "never closed"),
            ("</summary> odd <summary>", ""),
        ] {
            assert_eq!(summary(response), found, "{response}");
        }
    }
}
