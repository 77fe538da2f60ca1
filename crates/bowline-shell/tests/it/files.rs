//! Files that a command reads and writes, and dangerous commands.

use bowline_shell::{Word, parse};

fn names(words: &[Word]) -> Vec<&str> {
    words.iter().map(|word| word.literal().unwrap_or("?")).collect()
}

#[track_caller]
fn check(command_line: &str, reads: &[&str], writes: &[&str]) -> bool {
    let script = parse(command_line);
    assert_eq!(script.opaque, None, "{command_line}");
    let access = script.commands[0].file_access();
    assert_eq!(names(&access.reads), reads, "reads of {command_line}");
    assert_eq!(names(&access.writes), writes, "writes of {command_line}");
    access.is_file_command
}

#[test]
fn read_commands_name_their_files() {
    assert!(!check("cat a 'b c' -n", &["a", "b c"], &[]));
    check("cat -", &[], &[]);
    check("head -n 5 a", &["a"], &[]);
    check("head -n5 a", &["a"], &[]);
    check("grep -rn pattern src lib", &["src", "lib"], &[]);
    check("grep -e pattern src", &["src"], &[]);
    check("grep -f patterns src", &["patterns", "src"], &[]);
    check("grep --file=patterns src", &["patterns", "src"], &[]);
    check("rg --files src", &["src"], &[]);
    check("find src lib -name x", &["src", "lib"], &[]);
    check("cut -d / -f 2 a", &["a"], &[]);
    check("cat $x", &["?"], &[]);
    check("cat {a,b}", &["?"], &[]);
    check("cd", &["~"], &[]);
    check("git diff --unified /etc/passwd a", &[".", "/etc/passwd", "a"], &[]);
    check("cd -", &["-"], &[]);
    check("cat ~\"/a\"", &["?"], &[]);
    check("cat ~/\"a\"", &["~/a"], &[]);
    check("jq -R . -- --arg a b", &["--arg", "a", "b"], &[]);
    check("ls -la", &["."], &[]);
    check("grep -rn pattern", &["."], &[]);
    check("timeout 5 cat a", &["a"], &[]);
    check("[ -f a ]", &["a"], &[]);
    check("for f in *.rs; do ls; done", &["*.rs"], &[]);
    check("echo a *.rs", &["*.rs"], &[]);
    check("find -newer a", &[".", "a"], &[]);
    check("cd sub", &["sub"], &[]);
    check("git -C sub log", &["sub"], &[]);
    check("git status", &["."], &[]);
    check("sed -n 1p a", &["a"], &[]);
    check("echo /etc/passwd", &[], &[]);
    check("wc -l < a", &["a"], &[]);
    check("cat -- -a", &["-a"], &[]);
    check("git diff /etc/shadow a", &[".", "/etc/shadow", "a"], &[]);
    check("git -C sub diff main", &["sub", "main"], &[]);
    check("find -L -O3 src -name x", &["src", "x"], &[]);
    // An abbreviation is not known, so every word may be a file.
    check("grep --regex pattern src", &["pattern", "src"], &[]);
}

#[test]
fn file_commands_name_what_they_change() {
    assert!(check("touch a b", &[], &["a", "b"]));
    assert!(check("mkdir -p -m 755 a/b", &[], &["a/b"]));
    assert!(check("rm -rf a", &[], &["a"]));
    assert!(check("mv a b", &["a"], &["b", "a"]));
    assert!(check("cp -r a x/b c", &["a", "x/b"], &["c"]));
    assert!(check("cp -t c a b", &["a", "b"], &["c"]));
    assert!(check("cp -r a/. c", &["a/."], &["c"]));
    assert!(!check("cp -s a c", &["a"], &["c"]));
    assert!(!check("cp a --target-dir c b", &["a", "b"], &["c"]));
    assert!(check("sed -i 's/a/b/' x y", &[], &["x", "y"]));
    assert!(check("sed -i.bak 's/a/b/' x", &[], &["x", "x.bak"]));
    assert!(!check("sed -i'a/*' 's/a/b/' x", &["s/a/b/", "x"], &[]));
    assert!(!check("sed -i 's/a/b/e' x", &["s/a/b/e", "x"], &[]));
    assert!(!check("tee a -a b", &[], &["a", "b"]));
    assert!(!check("dd if=a of=b", &["a"], &["b"]));
    assert!(!check("rm", &[], &[]));
    assert!(!check("echo x > a 2> b", &[], &["a", "b"]));
    assert!(!check("echo x > /dev/null 2>&1", &[], &[]));
    assert!(!check("echo x >&file", &[], &["file"]));
    assert!(!check("/bin/rm a", &[], &[]));
}

#[test]
fn any_argument_may_name_a_file() {
    let script = parse("curl -T.env -d @secret/a --cert=secret/b secret/c $x HEAD:a");
    let words = script.commands[0].path_like_words();
    assert_eq!(
        names(&words),
        [
            ".env",
            "env",
            "nv",
            "v",
            "-T.env",
            "-d",
            "secret/a",
            "secret/a",
            "@secret/a",
            "secret/b",
            "--cert",
            "secret/b",
            "--cert=secret/b",
            "secret/c",
            "?",
            "a",
            "HEAD",
            "a",
            "HEAD:a"
        ]
    );
}

#[test]
fn danger_is_seen_through_wrappers() {
    for command_line in [
        "rm -rf /",
        "rm -rf /*",
        "rm -fr ~",
        "rm -r ~/",
        "rm -rf ~/*",
        "rm -rf $HOME",
        "rm -rf \"$HOME\"/",
        "rm -rf ${HOME}/*",
        "rm --recursive --force /",
        "rm -rf /etc",
        "rm -rf //",
        "rm -rf /./",
        "rm -rf /tmp/../",
        "rm -rf /usr/",
        "rm -rf /home/me",
        "sudo rm -rf /",
        "timeout 5 sudo rm -rf /",
        "bash -c 'rm -rf /'",
        "ls && rm -rf /",
        "echo $(rm -rf /)",
        "env X=1 rm -rf /",
        "/bin/rm -rf /",
        "eval 'rm -rf /'",
        "xargs rm -rf / < x",
        "find / -delete",
        "find / -exec rm {} +",
        "chmod -R 777 /",
        "dd if=x of=/dev/sda",
        "cat x > /dev/sda",
        "mkfs.ext4 /dev/sda1",
        "mv / x",
        "r\\m -rf /",
        "'rm' -rf /",
    ] {
        assert!(parse(command_line).danger().is_some(), "{command_line:?} is dangerous");
    }
    for command_line in [
        "rm -rf node_modules",
        "rm -rf ./x",
        "rm a",
        "rm -rf /tmp/x",
        "rm -rf ~/project/x/y",
        "rm -rf /home/me/project",
        "find . -delete",
        "chmod +x a",
        "chmod -R 755 src",
        "echo 'rm -rf /'",
        "dd if=a of=b",
        "ls /",
        "mv a b",
        "rm -rf *",
    ] {
        assert_eq!(parse(command_line).danger(), None, "{command_line:?} is not");
    }
}
