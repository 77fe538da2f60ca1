//! Privacy from other users and from programs of a project.

use std::{
    ffi::OsString,
    fs::{self, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;

use crate::test_home::{Ran, TestHome};

/// A call whose output is too long for a conversation, and one in the background.
const LONG_OUTPUT: &str = "TOOL Bash {\"command\":\"head -c 300000 /dev/zero | tr '\\\\0' x\"}\n\
                           TOOL Bash {\"command\":\"echo secret\",\"run_in_background\":true}\n\
                           NEXT\nECHORESULT";

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

/// Everything below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let with_inside = entries.flat_map(|path| {
        let inside = if path.is_dir() && !path.is_symlink() { below(&path) } else { Vec::new() };
        [path].into_iter().chain(inside)
    });
    with_inside.collect()
}

/// Runs the program by way of another, which gets its name and its arguments.
fn through(rig: &TestHome, wrapper: &[&str], program: Option<&Path>, args: &[&str]) -> Command {
    let plain = rig.bowline(args);
    let program = program.map_or_else(|| plain.get_program().to_owned(), OsString::from);
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).arg(program).args(plain.get_args());
    command.current_dir(rig.cwd()).env_clear();
    for (name, value) in plain.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command
}

#[test]
fn files_are_private_under_any_umask() {
    let rig = TestHome::new();
    let args = ["-p", "--model", "script", "--allowedTools", "Bash", "--debug-file", "debug.log"];
    let args = [&args[..], &["--record", "record.jsonl", "--", LONG_OUTPUT]].concat();
    let wrapper = ["sh", "-c", "umask 000; exec \"$0\" \"$@\""];
    let ran = Ran::from(through(&rig, &wrapper, None, &args).output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for file in ["debug.log", "record.jsonl"] {
        assert_eq!(mode(&rig.cwd().join(file)), 0o600, "{file}");
    }
    let home = below(&rig.home());
    let temporary: Vec<_> = below(rig.cwd().parent().unwrap())
        .into_iter()
        .filter(|path| path.to_str().unwrap().contains("/claude-"))
        .collect();
    assert!(home.iter().any(|path| path.extension().is_some_and(|it| it == "jsonl")), "{home:?}");
    assert!(temporary.iter().any(|path| path.is_file()), "{temporary:?}");
    for path in home.iter().chain(&temporary) {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(path), expected, "{}", path.display());
    }
}

#[test]
fn folders_that_were_open_are_closed() {
    let rig = TestHome::new();
    let projects = rig.home().join(".bowline/projects");
    fs::create_dir_all(&projects).unwrap();
    for folder in [projects.parent().unwrap(), &projects] {
        fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
    }
    assert_eq!(rig.ask(&[], "hello").code, Some(0));
    assert_eq!((mode(projects.parent().unwrap()), mode(&projects)), (0o700, 0o700));
}

#[test]
fn a_temporary_folder_that_another_has_prepared_is_not_used() {
    let rig = TestHome::new();
    let temporary = rig.cwd().parent().unwrap().to_owned();
    let elsewhere = temporary.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let user = rustix::process::getuid().as_raw();
    symlink(&elsewhere, temporary.join(format!("claude-{user}"))).unwrap();
    let ran = rig.ask(&["--allowedTools", "Bash"], LONG_OUTPUT);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(below(&elsewhere), Vec::<PathBuf>::new());
    let own: Vec<_> = below(&temporary)
        .into_iter()
        .filter(|path| path.to_str().unwrap().contains(&format!("/claude-{user}-")))
        .collect();
    assert!(own.iter().any(|path| path.is_file()), "{own:?}");
}

/// A place of the user `nobody`, and what runs a program as that user. `None` where only root could.
#[expect(clippy::print_stderr, reason = "a skipped test reports why")]
fn as_unprivileged_user() -> Option<(TestHome, PathBuf)> {
    const NOBODY: Option<u32> = Some(65534);
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can run a program as another user");
        return None;
    }
    let rig = TestHome::new();
    let folder = rig.cwd().parent().unwrap().to_owned();
    // Where the program was built may be closed to others.
    let program = folder.join("bowline");
    fs::copy(env!("CARGO_BIN_EXE_bowline"), &program).unwrap();
    for path in [folder.clone(), rig.cwd(), rig.home(), program.clone()] {
        chown(&path, NOBODY, NOBODY).unwrap();
    }
    Some((rig, program))
}

const NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

#[test]
fn commands_cannot_read_the_tokens_of_their_parent() {
    let Some((rig, program)) = as_unprivileged_user() else { return };
    let look = "for f in environ mem maps; do cat /proc/$PPID/$f 2>&1 | tr '\\\\0' '\\\\n' | \
                grep -a -o 'tok-[a-z]*\\\\|denied'; done; cat /proc/self/environ | wc -c";
    let prompt = format!("TOOL Bash {{\"command\":\"{look}\"}}\nNEXT\nECHORESULT");
    let args = ["-p", "--model", "script", "--allowedTools", "Bash", "--", &prompt];
    let mut command = through(&rig, &NOBODY, Some(&program), &args);
    command.env("BOWLINE_MCP_TOKEN", "tok-secret");
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, Some(0), "{} {}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("tok-"), "{}", ran.stdout);
    assert!(ran.stdout.contains("denied"), "{}", ran.stdout);
    let own = ran.stdout.trim().lines().last().unwrap();
    assert!(own.parse::<u32>().is_ok_and(|bytes| bytes > 0), "a command sees its own: {own}");
}

#[test]
fn pipes_work_for_a_non_dumpable_process() {
    let Some((rig, program)) = as_unprivileged_user() else { return };
    let lines =
        r#"echo '{"type":"user","message":{"role":"user","content":"SAY works"}}' | "$@" | cat"#;
    let wrapper = [&NOBODY[..], &["sh", "-c", lines, "sh"]].concat();
    let args = ["--output-format", "stream-json", "--input-format", "stream-json", "--verbose"];
    let args = [&args[..], &["--model", "script"]].concat();
    let ran = Ran::from(through(&rig, &wrapper, Some(&program), &args).output().unwrap());
    assert!(ran.stdout.contains("\"subtype\":\"success\""), "{} {}", ran.stdout, ran.stderr);
}

/// What a program has found in its environment.
fn seen(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn run_with_keys(rig: &TestHome, args: &[&str], prompt: &str) -> Ran {
    let words = ["-p", "--model", "script", "--setting-sources", "user,project,local"];
    let mut command = rig.bowline([&words[..], args, &["--", prompt]].concat());
    command
        .env("ANTHROPIC_API_KEY", "key-anthropic")
        .env("ANTHROPIC_CUSTOM_HEADERS", "X-Key: key-header")
        .env("OPENAI_API_KEY", "key-openai")
        .env("CLAUDE_CODE_OAUTH_TOKEN", "key-oauth")
        .env("BOWLINE_MCP_TOKEN", "tok-mcp");
    Ran::from(command.output().unwrap())
}

#[test]
fn programs_of_a_project_get_no_keys() {
    let rig = TestHome::new();
    let at = |name: &str| rig.cwd().join(name);
    let print = |name: &str| format!("env > {}", at(name).display());
    let server = |name: &str| json!({ "command": "sh", "args": ["-c", print(name)] });
    let mut explicit = server("explicit");
    explicit["env"] = json!({ "OPENAI_API_KEY": "${OPENAI_API_KEY}" });
    let servers = json!({ "mcpServers": { "theirs": server("theirs"), "explicit": explicit } });
    fs::write(at(".mcp.json"), servers.to_string()).unwrap();
    let hook = |name: &str| json!({ "SessionStart": [{ "hooks": [{ "type": "command", "command": print(name) }] }] });
    fs::create_dir(at(".claude")).unwrap();
    for (file, name) in [("settings.json", "project-hook"), ("settings.local.json", "local-hook")] {
        fs::write(at(".claude").join(file), json!({ "hooks": hook(name) }).to_string()).unwrap();
    }
    rig.configure(json!({
        "hooks": hook("users-hook"),
        "mcpServers": { "users": server("users") },
    }));
    let ran = run_with_keys(&rig, &[], "hello");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for name in ["theirs", "project-hook", "local-hook"] {
        let seen = seen(&at(name));
        assert!(!seen.contains("key-"), "{name}: {seen}");
    }
    let explicit = seen(&at("explicit"));
    assert!(explicit.contains("key-openai") && !explicit.contains("key-anthropic"), "{explicit}");
    for name in ["users", "users-hook"] {
        let seen = seen(&at(name));
        assert!(seen.contains("key-anthropic") && seen.contains("key-openai"), "{name}: {seen}");
        assert!(!seen.contains("tok-mcp"), "{name} is no client of ours: {seen}");
    }
}

#[test]
fn commands_get_no_keys_if_the_user_says_so() {
    let prompt = "TOOL Bash {\"command\":\"env | grep -c key-; true\"}\nNEXT\nECHORESULT";
    let rig = TestHome::new();
    let count = || run_with_keys(&rig, &["--allowedTools", "Bash"], prompt).stdout;
    assert_eq!(count(), "result was: 4\n");
    rig.configure(json!({ "bowline": { "hideKeys": true } }));
    fs::create_dir(rig.cwd().join(".claude")).unwrap();
    for file in ["settings.json", "settings.local.json"] {
        let settings = json!({ "bowline": { "hideKeys": false } }).to_string();
        fs::write(rig.cwd().join(".claude").join(file), settings).unwrap();
    }
    assert_eq!(count(), "result was: 0\n");
}
