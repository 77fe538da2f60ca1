//! `bowline doctor`: a report of the configuration, its sources, and problems.

use std::{collections::BTreeMap, process::ExitCode, sync::Arc, time::Duration};

use bowline_engine::{
    hook::Hooks,
    plugin::Plugins,
    settings::{NO_SANDBOX, Part, Settings, SkippedHook, SkippedParts, Trust, project_servers},
};
use bowline_mcp::{McpServers, Setup};
use bowline_model::{DEFAULT_MODEL, ModelRef};
use bowline_protocol::printable_line;
use bowline_sandbox::Support;
use bowline_tools::Workspace;

use crate::{
    args::RunArgs, environment::Environment, print_line, setup::Found, version, working_directory,
};

/// Time limit for MCP servers to connect. A user is waiting at the terminal.
const SERVER_TIMEOUT: Duration = Duration::from_secs(10);

/// Prints the report. Exits with a failure if there is a problem.
pub(crate) async fn run() -> anyhow::Result<ExitCode> {
    let cwd = working_directory()?;
    let environment = Environment::of_process();
    let mut report = Report::default();
    report.section("Bowline");
    report.fact("version", version::BOWLINE);
    report.fact("protocol version", version::line());

    sandbox(&mut report);
    let found = Found::read(&RunArgs::default(), &environment, &cwd);
    let variable = environment.config_dir_variable();
    report.section("Settings");
    report.fact("configuration", {
        let from = variable.map_or_else(String::new, |name| format!(" (from {name})"));
        format!("{}{from}", environment.config_dir().display())
    });
    match found {
        Ok(found) => {
            settings(&mut report, &found.settings);
            model(&mut report, &found);
            let plugins = plugins(&mut report, &found);
            let left_out = found.left_out(&cwd, &plugins);
            trust(&mut report, &found, &left_out);
            hooks(&mut report, &found, &plugins);
            servers(&mut report, &found, &plugins, &left_out).await;
        }
        Err(error) => report.problem(error.to_string()),
    }
    let code = if report.problems == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    report.section(match report.problems {
        0 => "No problems found".to_owned(),
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    });
    print_line(report.text.trim_end())?;
    Ok(code)
}

/// Reports the confinement of commands that run unasked because they only read.
fn sandbox(report: &mut Report) {
    let support = Support::of_kernel();
    report.section("Sandbox");
    match support.landlock {
        Ok(version) => {
            let enforced = support.enforced().join("; ");
            report.fact("commands that only read", format!("Landlock {version}: {enforced}"));
        }
        Err(_) => {
            report.fact("commands that only read", "not confined: the kernel has no Landlock")
        }
    }
    for lack in support.missing() {
        report.fact("not enforced", lack);
    }
}

fn settings(report: &mut Report, settings: &Settings) {
    for layer in settings.layers().iter().filter(|layer| !layer.value.is_empty()) {
        let path = layer.path.as_ref().map_or_else(String::new, |path| path.display().to_string());
        report.fact(layer.source.as_str(), path);
    }
    let mut origins = BTreeMap::new();
    for key in settings.effective().keys() {
        if let Some(traced) = settings.get(key) {
            origins.insert(key, (traced.value.clone(), traced.source));
        }
    }
    for (key, (value, source)) in origins {
        report.fact(key, format!("{} ({source})", shortened(&value.to_string())));
    }
    for problem in settings.problems() {
        report.problem(problem.to_string());
    }
    if settings.sandbox_wish().is_some() {
        report.problem(NO_SANDBOX.to_owned());
    }
}

/// Reports whether the folder is trusted, and which of its parts do not apply if it is not.
fn trust(report: &mut Report, found: &Found, left_out: &SkippedParts) {
    report.section("Trust");
    let project = found.places.project.display();
    match &found.trust_reason {
        Some(reason) => report.fact("project", format!("{project}: trusted, {reason}")),
        None => {
            report.fact("project", format!("{project}: not trusted"));
            report.fact("to trust it", "`bowline trust`, or --trust for one run");
        }
    }
    for SkippedHook { event, label, file } in &left_out.hooks {
        report.fact("skipped hook", shortened(&format!("{event} `{label}` of {file}")));
    }
    let parts = SkippedParts { hooks: Vec::new(), ..left_out.clone() };
    for part in parts.listed() {
        report.fact("left out", part);
    }
}

fn model(report: &mut Report, found: &Found) {
    report.section("Model");
    let (environment, known) = (&found.environment, found.settings.known());
    let (name, source) = match (environment.model(), &known.model) {
        (Some(model), _) => (model, "ANTHROPIC_MODEL"),
        (None, Some(model)) => (model.as_str(), "settings"),
        (None, None) => (DEFAULT_MODEL, "the default"),
    };
    report.fact("model", format!("{name} ({source})"));
    let set = |value: Option<&str>| if value.is_some() { "set" } else { "not set" };
    let shown = |value: Option<&str>| value.unwrap_or("not set").to_owned();
    report.fact("ANTHROPIC_API_KEY", set(environment.anthropic_api_key()));
    report.fact("ANTHROPIC_AUTH_TOKEN", set(environment.anthropic_auth_token()));
    report.fact("ANTHROPIC_BASE_URL", shown(environment.anthropic_base_url()));
    report.fact("OPENAI_API_KEY", set(environment.openai_api_key()));
    report.fact("OPENAI_BASE_URL", shown(environment.openai_base_url()));
    let anthropic = environment.anthropic_api_key().is_some()
        || environment.anthropic_auth_token().is_some()
        || environment.anthropic_base_url().is_some();
    let openai = environment.openai_api_key().is_some() || environment.openai_base_url().is_some();
    match name.parse() {
        Ok(ModelRef::Anthropic(_)) if !anthropic => report.problem(format!(
            "no credentials for {name}: set ANTHROPIC_API_KEY, or use a chat-completions \
             server with OPENAI_BASE_URL and --model openai/NAME, or --model script"
        )),
        Ok(ModelRef::OpenAi(_)) if !openai => report
            .problem(format!("no credentials for {name}: set OPENAI_BASE_URL, or OPENAI_API_KEY")),
        Ok(_) => {}
        Err(error) => report.problem(error.to_string()),
    }
}

/// Loads the plugins that the settings enable.
fn plugins(report: &mut Report, found: &Found) -> Plugins {
    let plugins = Plugins::load(Vec::new(), found.settings.known(), &found.places);
    if plugins.loaded().is_empty() && plugins.problems.is_empty() {
        return plugins;
    }
    report.section("Plugins");
    for plugin in plugins.loaded() {
        report.fact(&plugin.source, plugin.root.display().to_string());
    }
    for problem in &plugins.problems {
        report.problem(format!("{}: {}", problem.plugin, problem.message));
    }
    plugins
}

/// Reports hooks that never run because of a mistake in their configuration.
fn hooks(report: &mut Report, found: &Found, plugins: &Plugins) {
    let problems = Hooks::problems_of(&found.settings, plugins);
    if !problems.is_empty() {
        report.section("Hooks");
        problems.into_iter().for_each(|problem| report.problem(problem));
    }
}

/// Connects to the servers that a session would use, and lists the others.
async fn servers(report: &mut Report, found: &Found, plugins: &Plugins, left_out: &SkippedParts) {
    let offered = match found.trust {
        Trust::Trusted => project_servers(&found.places).servers,
        Trust::Untrusted => Vec::new(),
    };
    let blocked = left_out.parts.iter().filter(|(part, _)| *part == Part::Server);
    let blocked: Vec<_> = blocked.map(|(_, name)| name).collect();
    let (mut servers, wrong) = found.settings.servers(&found.places, found.sources, found.trust);
    servers.extend(plugins.servers().cloned());
    if offered.is_empty() && servers.is_empty() && wrong.is_empty() && blocked.is_empty() {
        return;
    }
    report.section("MCP servers");
    wrong.into_iter().for_each(|problem| report.problem(problem));
    for server in &offered {
        if !servers.iter().any(|used| used.name == server.name) {
            report.fact(&server.name, "not used: disabled by settings");
        }
    }
    for name in blocked {
        report.fact(&shortened(name), "not started: this folder is not trusted");
    }
    let workspace = Workspace::new(&found.places.project, bowline_tools::Setup::default());
    let reached = Arc::new(McpServers::new(Setup::new(workspace)));
    for server in servers {
        reached.add(server);
    }
    reached.start();
    reached.wait_ready(SERVER_TIMEOUT).await;
    for state in reached.status() {
        let status = state.status.to_string();
        match status.as_str() {
            "connected" => report.fact(&state.name, "connected"),
            _ => {
                let why = state.error.unwrap_or_else(|| "no response".to_owned());
                report.problem(format!("{}: {status}: {why}", state.name));
            }
        }
    }
    reached.close().await;
}

/// The report, as text.
#[derive(Debug, Default)]
struct Report {
    text: String,
    problems: usize,
}

impl Report {
    fn section(&mut self, title: impl AsRef<str>) {
        self.text.push_str(&format!("\n{}\n", title.as_ref()));
    }

    fn fact(&mut self, name: &str, value: impl AsRef<str>) {
        self.text.push_str(&format!("  {name}: {}\n", value.as_ref()));
    }

    fn problem(&mut self, text: String) {
        self.problems += 1;
        self.text.push_str(&format!("  PROBLEM: {text}\n"));
    }
}

/// Truncates long values: the report is an overview.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 80;
    // Some of them come from a project, and must not control the terminal.
    let text = printable_line(text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
