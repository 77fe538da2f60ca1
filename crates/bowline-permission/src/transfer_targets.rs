//! Files that a copy or a move writes.

use std::path::Path;

use bowline_shell::{Transfer, Word};

use super::{
    folder_contents::FolderContents, location::Location, shell_state::ShellState,
    word_path::WordPath,
};

/// The files that a transfer writes besides its target. `in_company` means that other commands of the
/// line may make the target a folder first.
pub(super) fn transfer_targets(
    transfer: &Transfer,
    shell: &ShellState<'_>,
    in_company: bool,
) -> Vec<WordPath> {
    let Transfer { sources, target, replaces, copies_tree } = transfer;
    let targets = shell.word_paths(std::slice::from_ref(target));
    let mut found = Vec::new();
    for target in targets.iter().filter_map(WordPath::location) {
        let exists = target.real().exists();
        let may_be_folder = target.real().is_dir() || !exists && (in_company || sources.len() > 1);
        for source in sources {
            let merges = *replaces || is_content(source);
            for path in shell.word_paths(std::slice::from_ref(source)) {
                let Some(source) = path.location() else {
                    found.push(path);
                    continue;
                };
                let target_path = match source.named().file_name() {
                    Some(name) if may_be_folder && !merges => target.named().join(name),
                    _ => target.named().to_owned(),
                };
                if *copies_tree {
                    found.extend(tree(source, &target_path));
                }
                found.push(WordPath::Known(Location::of(&target_path)));
            }
        }
    }
    found
}

/// Whether a source stands for everything in a folder: `DIR/.`.
fn is_content(source: &Word) -> bool {
    source.literal().is_none_or(|text| matches!(text.rsplit('/').next(), Some("." | "..")))
}

/// Every file below a source, where it ends up: a link may be there already, or its name may be
/// one that is always asked about.
fn tree(source: &Location, target_path: &Path) -> Vec<WordPath> {
    let Some(below) = FolderContents::list(source) else { return Vec::new() };
    match below.entries() {
        Some(entries) => {
            entries.iter().map(|it| WordPath::Known(Location::of(&target_path.join(it)))).collect()
        }
        None => vec![WordPath::Unknown(source.named().display().to_string())],
    }
}
