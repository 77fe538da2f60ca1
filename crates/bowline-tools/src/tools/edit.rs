//! `Edit`: replaces a piece of a file by another.

use std::{ops::Range, path::Path};

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::write::STATE_NOTE;
use crate::{
    files::{self, Change, Freshness, OnDisk, TextFile, structured_patch},
    output::{ToolFailure, ToolOutput},
    schema::schema_of,
    tool::{Access, Tool, ToolCall, ToolSpec, read_input},
    workspace::Workspace,
};

const DESCRIPTION: &str = "\
Replaces an exact piece of text in a file.

`old_string` must be in the file exactly as it is there, indentation included but without the line \
numbers that Read shows, and only once; take in more of its surroundings if it is not unique, or \
set `replace_all` to replace every occurrence. Read the file first. With an empty `old_string` a \
new file is created.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Absolute path of the file.
    file_path: String,
    /// The text to replace.
    old_string: String,
    /// The text to put in its place; different from old_string.
    new_string: String,
    /// Whether to replace every occurrence.
    #[serde(default)]
    replace_all: bool,
}

impl Input {
    /// The text to put in place, without blanks at the ends of its lines; in Markdown they mean
    /// something.
    fn new_text(&self) -> String {
        let extension = Path::new(&self.file_path).extension().unwrap_or_default();
        if extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("mdx") {
            return self.new_string.clone();
        }
        let lines = self.new_string.split('\n').map(|line| match line.strip_suffix('\r') {
            Some(line) => format!("{}\r", line.trim_end()),
            None => line.trim_end().to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Edits files.
pub(super) struct Edit {
    spec: ToolSpec,
}

impl Edit {
    pub(super) fn new() -> Self {
        Self { spec: ToolSpec::new("Edit", DESCRIPTION, schema_of::<Input>()).destructive() }
    }
}

impl Tool for Edit {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, input: &Value, workspace: &Workspace) -> Access {
        Access::Edit(workspace.resolve(input["file_path"].as_str().unwrap_or_default()))
    }

    fn check<'a>(
        &'a self,
        input: &'a Value,
        workspace: &'a Workspace,
    ) -> BoxFuture<'a, Result<(), ToolFailure>> {
        Box::pin(async move { plan(&read_input(input)?, workspace).await.map(drop) })
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let input: Input = call.input()?;
            let plan = plan(&input, &call.workspace).await?;
            let path = call.workspace.resolve(&input.file_path);
            let change = Change {
                path: &path,
                before: plan.file.as_ref(),
                text: &plan.after,
                tool_use_id: &call.id,
                partial: !plan.known,
            };
            files::write(&call.workspace, change).await?;

            let shown = &input.file_path;
            let mut text = if input.replace_all {
                format!(
                    "The file {shown} has been updated. All occurrences were successfully replaced."
                )
            } else {
                format!("The file {shown} has been updated successfully.")
            };
            if plan.stale {
                text.push_str(
                    " (somebody else had changed the file since you read it; the text to replace \
                     was still there, but Read the file again before you rely on the rest)",
                );
            } else if plan.known {
                text.push_str(STATE_NOTE);
            }
            let mut structured = json!({
                "filePath": input.file_path,
                "oldString": plan.old,
                "newString": input.new_text(),
                "originalFile": plan.before,
                "structuredPatch": structured_patch(&plan.before, &plan.after),
                "userModified": false,
                "replaceAll": input.replace_all,
            });
            if plan.stale {
                structured["staleRecovered"] = true.into();
            }
            if !plan.known {
                structured["contentNotInModelContext"] = true.into();
            }
            Ok(ToolOutput::text(text).structured(structured))
        })
    }
}

/// An edit that can be made.
struct Plan {
    /// The file as it is; `None` if it is to be created.
    file: Option<OnDisk>,
    before: String,
    after: String,
    /// The replaced text as it is in the file.
    old: String,
    /// Whether the model knows the whole file.
    known: bool,
    /// Whether another program changed the file since the model saw it.
    stale: bool,
}

/// Works out the edit without making it.
async fn plan(input: &Input, workspace: &Workspace) -> Result<Plan, ToolFailure> {
    let Input { file_path, old_string, replace_all, .. } = input;
    let new_string = input.new_text();
    if *old_string == new_string {
        return Err(ToolFailure::input(
            "No changes to make: old_string and new_string are exactly the same.",
        ));
    }
    let path = workspace.resolve(file_path);
    if path.is_dir() {
        let message = "EISDIR: illegal operation on a directory, read";
        return Err(ToolFailure::checking("Edit", message));
    }
    let file = files::load(&path).await.map_err(|error| files::failed(&error, "open", &path))?;
    let Some(file) = file else {
        if !old_string.is_empty() {
            return Err(ToolFailure::input(files::missing(&path, workspace)));
        }
        return Ok(created(None, new_string));
    };
    if path.extension().is_some_and(|extension| extension == "ipynb") {
        return Err(ToolFailure::input(
            "File is a Jupyter Notebook. Use the NotebookEdit to edit this file.",
        ));
    }
    if old_string.is_empty() {
        return if file.bytes.is_empty() {
            Ok(created(Some(file), new_string))
        } else {
            Err(ToolFailure::input("Cannot create new file - file already exists."))
        };
    }

    let freshness = files::freshness(workspace, &path, &file);
    if freshness == Freshness::Unseen && workspace.reads_before_writing() {
        return Err(files::not_read());
    }
    let stale = freshness == Freshness::Stale;
    let before = TextFile::decode(&file.bytes).text;
    let places = find(&before, old_string);
    let applicable = match places.len() {
        0 => false,
        1 => true,
        _ => *replace_all,
    };
    if !applicable {
        return Err(match places.len() {
            _ if stale => files::modified_since_read(),
            0 => ToolFailure::input(format!(
                "String to replace not found in file.\nString: {old_string}"
            )),
            matches => ToolFailure::input(format!(
                "Found {matches} matches of the string to replace, but replace_all is false. To \
                 replace all of them set replace_all to true; to replace one of them give more of \
                 its surroundings.\nString: {old_string}"
            )),
        });
    }
    let old = before[places[0].clone()].to_owned();
    let new = match old == *old_string {
        true => new_string,
        false => typographic(&new_string),
    };
    let after = replace(&before, &places, &new);
    let known = matches!(freshness, Freshness::Current { partial: false });
    Ok(Plan { file: Some(file), before, after, old, known, stale })
}

/// An edit that puts text where there is none. The model knows a file only if it has made it.
fn created(file: Option<OnDisk>, text: String) -> Plan {
    let (before, old, known) = (String::new(), String::new(), file.is_none());
    Plan { file, before, after: text, old, known, stale: false }
}

/// Where `old` is in `text`: exactly, or else with typographic quotes for straight ones, which
/// models cannot tell apart.
fn find(text: &str, old: &str) -> Vec<Range<usize>> {
    let exact: Vec<_> =
        text.match_indices(old).map(|(start, found)| start..start + found.len()).collect();
    if !exact.is_empty() {
        return exact;
    }
    let old = old.chars().map(straight).collect::<String>();
    if !old.contains(['\'', '"']) {
        return exact;
    }
    let plain: String = text.chars().map(straight).collect();
    // Each character of the plain text with the position of its original.
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for (original, c) in text.char_indices() {
        places.push((at, original));
        at += straight(c).len_utf8();
    }
    places.push((at, text.len()));
    let original = |plain: usize| {
        places.binary_search_by_key(&plain, |(at, _)| *at).map_or(0, |index| places[index].1)
    };
    let found = plain.match_indices(&old);
    found.map(|(start, found)| original(start)..original(start + found.len())).collect()
}

fn straight(c: char) -> char {
    match c {
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        other => other,
    }
}

/// Straight quotes as typographic ones, as they are in the text around: opening after a blank or a
/// bracket, closing elsewhere.
fn typographic(text: &str) -> String {
    let mut before = None;
    let mut curled = |c: char| {
        let opens = before.is_none_or(|last: char| last.is_whitespace() || "([{—–".contains(last));
        before = Some(c);
        match (c, opens) {
            ('"', true) => '“',
            ('"', false) => '”',
            ('\'', true) => '‘',
            ('\'', false) => '’',
            (other, _) => other,
        }
    };
    text.chars().map(&mut curled).collect()
}

/// Replaces the occurrences. Deleting whole lines deletes their newlines too.
fn replace(text: &str, places: &[Range<usize>], new: &str) -> String {
    let mut result = String::with_capacity(text.len() + new.len());
    let mut at = 0;
    for place in places {
        result.push_str(&text[at..place.start]);
        result.push_str(new);
        at = place.end;
        let at_line_start = place.start == 0 || text[..place.start].ends_with('\n');
        let whole_line = at_line_start && !text[place.clone()].ends_with('\n');
        if new.is_empty() && whole_line && text[at..].starts_with('\n') {
            at += 1;
        }
    }
    result.push_str(&text[at..]);
    result
}

#[cfg(test)]
mod tests {
    use super::{find, replace, typographic};

    #[test]
    fn new_quotes_are_like_those_they_replace() {
        assert_eq!(typographic("say \"hi\" ('don't')"), "say “hi” (‘don’t’)");
    }

    #[test]
    fn quotes_of_either_kind_are_found() {
        let text = "say “hi” and ‘yo’ — done";
        let places = find(text, "\"hi\" and 'yo'");
        assert_eq!(places.len(), 1);
        assert_eq!(&text[places[0].clone()], "“hi” and ‘yo’");
        assert!(find(text, "\"ho\"").is_empty());
    }

    #[test]
    fn deleted_line_takes_its_newline() {
        let delete = |text: &str, old: &str| replace(text, &find(text, old), "");
        assert_eq!(delete("a\nb\nc\n", "b"), "a\nc\n");
        assert_eq!(delete("a\nxb\nc\n", "b"), "a\nx\nc\n");
        assert_eq!(delete("a\nb\nc\n", "b\n"), "a\nc\n");
        assert_eq!(delete("a\nb", "b"), "a\n");
    }
}
