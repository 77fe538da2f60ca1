//! `bowline man`: the manual page.

use std::io::{self, Write};

use clap::{Arg, Command, CommandFactory};
use clap_mangen::{
    Man,
    roff::{Roff, roman},
};

use crate::args::Args;

/// Heading before the flags of a command; removed, because each command has its own heading.
const HEADING: &str = ".SH OPTIONS\n";

/// Prints the manual page: the program, then each of its commands with the flags that only it has.
pub(crate) fn print() -> anyhow::Result<()> {
    io::stdout().lock().write_all(&page()?)?;
    Ok(())
}

fn page() -> io::Result<Vec<u8>> {
    let mut program = Args::command();
    program.build();
    let mut page = Vec::new();
    let whole = Man::new(program.clone());
    whole.render_title(&mut page)?;
    whole.render_name_section(&mut page)?;
    whole.render_synopsis_section(&mut page)?;
    whole.render_description_section(&mut page)?;
    whole.render_options_section(&mut page)?;
    Roff::new().control("SH", ["COMMANDS"]).to_writer(&mut page)?;
    for command in program.get_subcommands() {
        add_command(&mut page, &program, command, &format!("bowline {}", command.get_name()))?;
    }
    whole.render_version_section(&mut page)?;
    Ok(page)
}

/// Adds the section of a command and those of its subcommands.
fn add_command(
    page: &mut Vec<u8>,
    program: &Command,
    command: &Command,
    name: &str,
) -> io::Result<()> {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    Roff::new().control("SS", [name]).text([roman(about)]).to_writer(page)?;
    let is_help = |arg: &Arg| arg.get_id() == "help";
    let names = |arg: &Arg| (arg.get_id().clone(), arg.get_long().map(str::to_owned));
    let is_of_program = |arg: &Arg| program.get_arguments().any(|known| names(known) == names(arg));
    let own = command.clone().mut_args(|arg| {
        let hidden = arg.is_hide_set() || is_of_program(&arg) || is_help(&arg);
        arg.hide(hidden)
    });
    let mut flags = Vec::new();
    Man::new(own).render_options_section(&mut flags)?;
    let flags = String::from_utf8_lossy(&flags);
    if let Some((_, flags)) = flags.split_once(HEADING) {
        page.write_all(flags.as_bytes())?;
    }
    if command.get_arguments().any(|arg| is_of_program(arg) && !is_help(arg)) {
        let more = "Flags of bowline about sessions are accepted as well.";
        Roff::new().control("PP", []).text([roman(more)]).to_writer(page)?;
    }
    for subcommand in command.get_subcommands() {
        add_command(page, program, subcommand, &format!("{name} {}", subcommand.get_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_listed_with_its_own_flags() {
        let page = String::from_utf8(page().unwrap()).unwrap();
        let (_, commands) = page.split_once("\n.SH COMMANDS\n").unwrap();
        let part = |name: &str| {
            let (_, part) = commands.split_once(&format!("\n.SS \"bowline {name}\"\n")).unwrap();
            part.split("\n.SS ").next().unwrap()
        };
        assert!(part("script-server").contains(r"\-\-listen"));
        let serve = part("mcp serve");
        assert!(
            serve.contains(r"\-\-allow\-origin") && serve.contains("accepted as well"),
            "{serve}"
        );
        assert!(!serve.contains(r"\-\-fallback\-model") && !serve.contains(r"\-\-help"), "{serve}");
        assert!(part("completions").contains("SHELL"));
        assert!(part("mcp login").contains("NAME"), "which is no --name");
        assert!(page.contains(r"\-\-fallback\-model"));
    }
}
