//! Changes as unified hunks, for programs that show them.

use imara_diff::{Algorithm, Diff, InternedInput};
use serde::Serialize;

/// Unchanged lines shown around a change.
const CONTEXT: u32 = 3;

/// Git's note for a text that does not end with a newline.
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// One hunk of a unified diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hunk {
    old_start: u32,
    old_lines: u32,
    new_start: u32,
    new_lines: u32,
    lines: Vec<String>,
}

/// The hunks that turn `before` into `after`.
pub(crate) fn structured_patch(before: &str, after: &str) -> Vec<Hunk> {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);

    let mut groups: Vec<Vec<imara_diff::Hunk>> = Vec::new();
    for change in diff.hunks() {
        match groups.last_mut() {
            Some(group)
                if group
                    .last()
                    .is_some_and(|last| change.before.start - last.before.end <= 2 * CONTEXT) =>
            {
                group.push(change);
            }
            _ => groups.push(vec![change]),
        }
    }
    groups.iter().map(|group| hunk(group, &input)).collect()
}

fn hunk(changes: &[imara_diff::Hunk], input: &InternedInput<&str>) -> Hunk {
    let (first, last) = (&changes[0], &changes[changes.len() - 1]);
    let lead = first.before.start.min(CONTEXT);
    let rest = u32::try_from(input.before.len()).unwrap_or(u32::MAX) - last.before.end;
    let trail = rest.min(CONTEXT);
    let (old_start, new_start) = (first.before.start - lead, first.after.start - lead);

    let mut lines = Vec::new();
    let mut push = |prefix: char, token: imara_diff::Token| {
        let line = input.interner[token];
        let text = line.strip_suffix('\n');
        lines.push(format!("{prefix}{}", text.unwrap_or(line)));
        if text.is_none() {
            lines.push(NO_NEWLINE.to_owned());
        }
    };
    let mut at = old_start;
    for change in changes {
        for line in at..change.before.start {
            push(' ', input.before[line as usize]);
        }
        for line in change.before.clone() {
            push('-', input.before[line as usize]);
        }
        for line in change.after.clone() {
            push('+', input.after[line as usize]);
        }
        at = change.before.end;
    }
    for line in at..at + trail {
        push(' ', input.before[line as usize]);
    }
    Hunk {
        old_start: old_start + 1,
        old_lines: last.before.end + trail - old_start,
        new_start: new_start + 1,
        new_lines: last.after.end + trail - new_start,
        lines,
    }
}

#[cfg(test)]
mod tests {
    use super::{Hunk, structured_patch};

    fn hunk(place: [u32; 4], lines: &[&str]) -> Hunk {
        let [old_start, old_lines, new_start, new_lines] = place;
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        Hunk { old_start, old_lines, new_start, new_lines, lines }
    }

    #[test]
    fn change_is_shown_with_context() {
        assert_eq!(
            structured_patch("alpha\nbeta\n", "alpha\nBETA\n"),
            [hunk([1, 2, 1, 2], &[" alpha", "-beta", "+BETA"])]
        );
        assert_eq!(structured_patch("same\n", "same\n"), []);
    }

    #[test]
    fn distant_changes_are_separate_hunks() {
        let before: String = (1..=30).map(|line| format!("{line}\n")).collect();
        let far = before.replace("2\n3\n", "2\nx\n").replace("25\n", "y\n");
        let hunks = structured_patch(&before, &far);
        assert_eq!(hunks.len(), 2);
        assert_eq!(hunks[1].old_start, 22);
        let near = before.replace("10\n", "x\n").replace("14\n", "y\n");
        assert_eq!(structured_patch(&before, &near).len(), 1);
    }

    #[test]
    fn missing_final_newline_is_noted() {
        assert_eq!(
            structured_patch("a", "a\n"),
            [hunk([1, 1, 1, 1], &["-a", "\\ No newline at end of file", "+a"])]
        );
    }
}
