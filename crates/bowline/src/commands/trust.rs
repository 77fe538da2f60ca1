//! `bowline trust`: the folders whose settings, hooks, servers and agents apply as they are written.

use std::{path::Path, process::ExitCode};

use bowline_engine::settings::{TrustRecords, TrustedFolder};
use bowline_protocol::printable_line;

use crate::{args::TrustArgs, environment::Environment, print_line, setup, working_directory};

/// Records trust in a folder, revokes it, or lists the records.
pub(crate) fn run(args: &TrustArgs) -> anyhow::Result<ExitCode> {
    let environment = Environment::of_process();
    let cwd = working_directory()?;
    let folder = args.folder.as_ref().map_or_else(|| cwd.clone(), |folder| cwd.join(folder));
    let places = setup::places(&environment, &folder);
    if args.list {
        return list(&TrustRecords::read(&places));
    }
    if args.revoke {
        let revoked = TrustRecords::revoke(&places, &folder).map_err(explain)?;
        return print_line(&format!("{} is no longer trusted.", revoked.display()));
    }
    let trusted = TrustRecords::trust(&places, &folder).map_err(explain)?;
    if TrustRecords::read(&places).reason(&trusted).is_none() {
        anyhow::bail!(
            "Error: {} is recorded in {}, but a folder cannot grant trust to itself: set \
             BOWLINE_CONFIG_DIR to a folder outside of it",
            trusted.display(),
            places.trust_file().display()
        );
    }
    let below = environment.home().and_then(|home| home.canonicalize().ok());
    let covers = match below.is_some_and(|home| home.starts_with(&trusted)) {
        true => "This applies to the folder alone, not to the folders in it",
        false => "This applies to everything in it",
    };
    print_line(&format!(
        "{} is trusted. {covers}; `bowline trust --revoke` revokes it.",
        trusted.display()
    ))
}

fn list(records: &TrustRecords) -> anyhow::Result<ExitCode> {
    let lines = records.list().into_iter().map(|TrustedFolder { folder, trusted, file }| {
        let word = if trusted { "trusted" } else { "not trusted" };
        format!("{} ({word}, {})", shown(&folder), shown(&file))
    });
    match lines.collect::<Vec<_>>().join("\n").as_str() {
        "" => print_line("No folder is trusted."),
        lines => print_line(lines),
    }
}

/// A path without control characters.
fn shown(path: &Path) -> String {
    printable_line(&path.to_string_lossy()).into_owned()
}

fn explain(error: bowline_engine::settings::TrustError) -> anyhow::Error {
    anyhow::anyhow!("Error: {error}")
}
