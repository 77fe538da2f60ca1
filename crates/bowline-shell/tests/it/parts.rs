//! Simple commands found in a command line.

use bowline_shell::{MAX_COMMANDS, MAX_DEPTH, MAX_LENGTH, parse};

#[track_caller]
fn check(command_line: &str, parts: &[&str]) {
    let script = parse(command_line);
    assert_eq!(script.opaque, None, "{command_line}");
    let found: Vec<String> =
        script.commands.iter().map(|command| command.text_with_assignments()).collect();
    assert_eq!(found, parts, "{command_line}");
}

#[test]
fn operators_separate_commands() {
    check("", &[]);
    check("  # only a comment", &[]);
    check("git  push   origin", &["git push origin"]);
    check("a && b || c; d | e & f\ng |& h", &["a", "b", "c", "d", "e", "f", "g", "h"]);
    check("a&&b||c;d|e&f", &["a", "b", "c", "d", "e", "f"]);
    check("a &&\n b", &["a", "b"]);
    check("a \\\n b", &["a b"]);
    check("a # b && c\nd", &["a", "d"]);
    check("a#b c", &["a#b c"]);
    check("! a", &["a"]);
    check("a;", &["a"]);
    check("a &", &["a"]);
}

#[test]
fn quotes_hide_operators() {
    check("echo 'a && b' \"c; d\" e\\;f", &["echo 'a && b' \"c; d\" e\\;f"]);
    check("echo \"a \\\" && b\"", &["echo \"a \\\" && b\""]);
    check("echo $'it\\'s && b'", &["echo $'it\\'s && b'"]);
    check("echo ''", &["echo ''"]);
}

#[test]
fn substitutions_are_commands() {
    check("echo $(rm x)", &["echo $(rm x)", "rm x"]);
    check("echo \"$(rm x)\"", &["echo \"$(rm x)\"", "rm x"]);
    check("echo '$(rm x)'", &["echo '$(rm x)'"]);
    check("echo `rm x`", &["echo `rm x`", "rm x"]);
    check("echo `echo \\`rm x\\``", &["echo `echo \\`rm x\\``", "echo `rm x`", "rm x"]);
    check("echo $(a $(b; c))", &["echo $(a $(b; c))", "a $(b; c)", "b", "c"]);
    check("diff <(a) <(b)", &["diff <(a) <(b)", "a", "b"]);
    check("x=$(rm y) ls", &["x=$(rm y) ls", "rm y"]);
    check("echo ${x:-$(rm y)}", &["echo ${x:-$(rm y)}", "rm y"]);
    check("echo $((1 + 2))", &["echo $((1 + 2))"]);
    check("cat < $(a)", &["cat", "a"]);
    check("echo $(echo ')' # )\n)", &["echo $(echo ')' # )\n)", "echo ')'"]);
}

#[test]
fn here_documents_stay_with_their_command() {
    check("cat <<EOF\nrm x && y\nEOF\nls", &["cat", "ls"]);
    check("cat <<EOF && ls\n$(rm x) `y`\nEOF", &["cat", "ls", "rm x", "y"]);
    check("cat <<'EOF'\n$(rm x)\nEOF", &["cat"]);
    check("cat <<-EOF\n\tx\n\tEOF\nls", &["cat", "ls"]);
    check("cat <<A <<B\n1\nA\n2\nB\nls", &["cat", "ls"]);
    check("cat <<< \"$(rm x)\"", &["cat", "rm x"]);
    check("cat <<EOF $(a\nb)\nc\nEOF\nd", &["cat $(a\nb)", "a", "b", "d"]);
    check(
        "echo \"$(cat <<'EOF'\nit's (fine)\nEOF\n)\"",
        &["echo \"$(cat <<'EOF'\nit's (fine)\nEOF\n)\"", "cat"],
    );
}

#[test]
fn compound_commands_yield_their_inner_commands() {
    check("(cd x && ls)", &["cd x", "ls"]);
    check("{ a; b; }", &["a", "b"]);
    check("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]);
    check("for i in 1 2; do echo $i; done", &["for i 1 2", "echo $i"]);
    check("for i in $(rm x); do a; done", &["for i $(rm x)", "rm x", "a"]);
    check("for i\ndo a; done", &["for i", "a"]);
    check("for PATH in x; do a; done", &["for PATH x", "a"]);
    check("while a; do b; done | c", &["a", "b", "c"]);
    check("until a\ndo\nb\ndone", &["a", "b"]);
    check("f() { rm x; }; f", &["rm x", "f"]);
    check("[[ -f a && -d b ]] && c", &["[[ -f a && -d b ]]", "c"]);
    check("echo if then fi", &["echo if then fi"]);
}

#[test]
fn repeated_commands_are_marked() {
    for repeated in [
        "for i in 1 2; do a; done",
        "while a; do b; done",
        "echo `until a; do b; done`",
        "f() { a; }; f; f",
    ] {
        assert!(parse(repeated).repeats, "{repeated}");
    }
    assert!(!parse("if a; then b; fi; (c) | { d; }").repeats);
}

#[test]
fn substituted_words_are_recognized() {
    for substituted in
        ["a $(b)", "a \"`b`\"", "a <(b)", "x=$(a)", "cat <<E\n$(a)\nE", "(a ${x-$(b)})"]
    {
        assert!(substitutes(substituted), "{substituted}");
    }
    assert!(!substitutes("a '$(b)' $x $((1 + 2)); (b) < c"));
}

#[test]
fn redirections_are_not_words() {
    let script = parse("2>&1 cmd a >out 2>>err <in &>all >| forced");
    assert_eq!(script.opaque, None);
    assert_eq!(script.commands[0].text(), "cmd a");
    let writes = script.commands[0].file_access().writes;
    let names: Vec<&str> = writes.iter().map(|word| word.raw()).collect();
    assert_eq!(names, ["out", "err", "all", "forced"]);
}

#[test]
fn unsupported_syntax_is_opaque() {
    for command_line in [
        "case x in a) rm y;; esac",
        "select x in a; do b; done",
        "coproc a",
        "function f { a; }",
        "((x = 1))",
        "echo $((x[$(rm y)]))",
        "echo $((x))",
        "echo ${x@P}",
        "echo ${!x}",
        "echo ${x[y]}",
        "echo ${x:y}",
        "a[$(rm x)]=1",
        "a=(1 2)",
        "echo 'open",
        "echo \"open",
        "echo `open",
        "echo $(open",
        "(open",
        "{ open",
        "if a; then b",
        "a )",
        "a && ",
        "&& a",
        "; a",
        "a ;; b",
        "a | | b",
        "cat <<EOF\nno end",
        "cat <<EOF",
        "echo a\rb",
        "echo a\0b",
        "a >",
        "echo \\",
        "f(a) b",
        // A here-document that ends earlier for the shell than it seems would hide what follows.
        "cat <<EOF\nEO\\\nF\nrm x\nEOF",
        "echo $(cat <<EOF\na\nEOF)\nrm x\ncat <<EOF\nEOF\n)",
        "echo $(cat <<EOF)\nEOF",
        "echo \"$\\\n(rm x)\"",
        "echo $\\\n(rm x)",
        "!\\\n rm x",
        "echo \"`echo \\\"a\\\"`\"",
        "echo ${x:-<(rm y)}",
    ] {
        assert!(parse(command_line).opaque.is_some(), "{command_line:?} should be opaque");
    }
}

#[test]
fn script_size_and_depth_are_limited() {
    let reason = |text: &str| parse(text).opaque.map(|opaque| opaque.reason);
    assert_eq!(reason(&"a".repeat(MAX_LENGTH + 1)), Some("the command is too long"));
    assert_eq!(reason(&"a;".repeat(MAX_COMMANDS)), None);
    assert_eq!(reason(&"a;".repeat(MAX_COMMANDS + 1)), Some("too many commands"));
    for (open, close) in [("$(", ")"), ("(", ")"), ("{ ", ";}"), ("\"$(", ")\""), ("${x-", "}")] {
        let nested = |depth| format!("echo {}a{}", open.repeat(depth), close.repeat(depth));
        assert!(parse(&nested(MAX_DEPTH * 4)).opaque.is_some(), "{open}");
    }
    assert!(parse(&"! ".repeat(20_000)).opaque.is_some());
    // Wrappers are followed only so far, and what lies deeper is not known.
    let wrapped = parse(&format!("{}ls", "timeout 1 ".repeat(6_000)));
    assert!(!wrapped.is_read_only());
    assert!(!wrapped.commands[0].layers().1);
    assert!(wrapped.commands[0].unwrapped().len() < 20);
}

fn substitutes(command_line: &str) -> bool {
    let script = parse(command_line);
    script.substitutes || script.commands.iter().any(|command| command.substitutes)
}
