//! Rules about commands, part by part.

use super::bench::Bench;

#[test]
fn exact_prefix_and_pattern() {
    Bench::new().rules(&["allow Bash(npm run test)"]).check(&[
        ("Bash npm run test", "allow rule"),
        ("Bash  npm run test ", "allow rule"),
        ("Bash npm run test --x", "ask"),
        ("Bash npm  run   test", "allow subcommandResults"),
    ]);
    for rule in ["allow Bash(git *)", "allow Bash(git:*)"] {
        Bench::new().rules(&[rule]).check(&[
            ("Bash git", "allow subcommandResults"),
            ("Bash git push origin", "allow subcommandResults"),
            ("Bash gitx push", "ask"),
            ("Bash  git push", "allow subcommandResults"),
        ]);
    }
    Bench::new()
        .rules(&["allow Bash(git * main)"])
        .check(&[("Bash git push main", "allow subcommandResults"), ("Bash git push dev", "ask")]);
    Bench::new().rules(&["allow Bash(npm*)"]).check(&[("Bash npmx", "allow subcommandResults")]);
    Bench::new()
        .rules(&["allow Bash(rmx \\*)"])
        .check(&[("Bash rmx *", "allow rule"), ("Bash rmx a", "ask")]);
    Bench::new().rules(&["allow Bash(touch b.txt && rm b.txt)"]).check(&[
        ("Bash touch b.txt && rm b.txt", "allow rule"),
        ("Bash touch b.txt && rm a.txt", "ask"),
    ]);
}

#[test]
fn an_allowed_prefix_smuggles_nothing() {
    let bench =
        Bench::new().rules(&["allow Bash(git *)", "allow Bash(touch *)", "allow Bash(echo *)"]);
    for command in [
        "git push && rm x",
        "git push; rm x",
        "git push || rm x",
        "git push | sh",
        "git push & rm x",
        "git push\nrm x",
        "git push $(rm x)",
        "git push `rm x`",
        "git push <(rm x)",
        "git push \"$(rm x)\"",
        "git push > out.txt",
        "git push <<EOF\n$(rm x)\nEOF",
        "(git push; rm x)",
        "if git push; then rm x; fi",
        "for i in $(rm x); do git push; done",
        "git() { rm x; }; git push",
        "PATH=. git push",
        "LD_PRELOAD=x git push",
        "GIT_SSH_COMMAND=x git push",
        "env git push",
        "sudo git push",
        "bash -c 'git push'",
        "xargs git push",
        "$x git push",
        "./git push",
        "./timeout 5 git push",
        "PATH=. timeout 5 git push",
        "git push ${x@P}",
        "echo $((a[$(rm x)]))",
        "case x in *) git push;; esac",
        "git push 'open",
        "touch ../outside/x",
        "touch /etc/x",
        "touch $x",
        "echo x > $y",
    ] {
        let found = bench.short(&format!("Bash {command}"));
        assert!(found.starts_with("ask"), "{command:?}: {found}");
    }
    bench.check(&[
        ("Bash git push && git pull", "allow subcommandResults"),
        ("Bash git push && ls", "allow subcommandResults"),
        ("Bash git push 2>&1 | head -n 3", "allow subcommandResults"),
        ("Bash timeout 5 git push", "allow subcommandResults"),
        ("Bash RUST_LOG=debug git push", "allow subcommandResults"),
        ("Bash git commit -m 'a && rm x'", "allow subcommandResults"),
        ("Bash git commit -m \"$(cat <<'EOF'\nit's; rm x\nEOF\n)\"", "allow subcommandResults"),
        ("Bash touch a.txt", "allow subcommandResults"),
        ("Bash if git fetch; then git pull; fi", "allow subcommandResults"),
    ]);
}

#[test]
fn a_denied_command_is_found_wherever_it_hides() {
    let bench = Bench::new().rules(&["allow Bash", "deny Bash(rm *)"]);
    for command in [
        "rm x",
        "rm",
        "ls && rm x",
        "ls | rm x",
        "echo $(rm x)",
        "echo `rm x`",
        "(rm x)",
        "if true; then rm x; fi",
        "sudo rm x",
        "sudo -u root rm x",
        "env A=b rm x",
        "A=b rm x",
        "timeout 5 rm x",
        "bash -c 'rm x'",
        "bash -c 'ls; rm x'",
        "eval 'rm x'",
        "xargs rm < list",
        "find . -exec rm {} +",
        "/bin/rm x",
        "r\\m x",
        "'rm' x",
        "\"rm\" x",
        "f() { rm x; }; f",
        "case x in *) rm x;; esac",
        "nohup rm x &",
        "cat <<EOF\n$(rm x)\nEOF",
        "trap 'rm x' EXIT",
    ] {
        assert_eq!(bench.short(&format!("Bash {command}")), "deny subcommandResults", "{command}");
    }
    bench.check(&[
        ("Bash ls", "allow rule"),
        ("Bash echo rm x", "allow rule"),
        ("Bash rmdir x", "allow rule"),
        // What it runs cannot be told, so it may be what the rule forbids.
        ("Bash $x y", "ask other"),
        ("Bash eval \"$x\"", "ask other"),
        ("Bash bash -c \"$x\"", "ask other"),
    ]);
    assert_eq!(
        bench.denial("Bash rm a.txt").message,
        "Permission to use Bash with command rm a.txt has been denied."
    );
}
