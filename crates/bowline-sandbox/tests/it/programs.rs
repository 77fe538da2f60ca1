//! Rights that read-only programs need while confined.

use bowline_sandbox::Readable;

use crate::rig::{Rig, is_there};

#[test]
fn read_only_programs_work_confined() {
    let Some(rig) = Rig::new() else { return };
    for script in [
        "cat file",
        "grep -rn words .",
        "sort file | uniq -c | head -1 | tr a-z A-Z",
        "cat < file > /dev/null 2>&1",
        "cat missing 2>/dev/null || true",
        "echo x > /dev/stderr",
        "echo x | tee /dev/stderr > /dev/null",
        "diff <(cat file) <(sort file)",
        "cat <<< words",
        "cat <<END\nwords\nEND",
        "find . -name 'f*' -newer /etc/passwd -o -print",
        "ls -la . /usr/bin > /dev/null",
        "ls -la /proc/self/fd > /dev/null",
        "id && whoami && groups",
        "date && uname -a && nproc && uptime && free && df .",
        "ps aux | wc -l",
        "stat file && wc file && sha256sum file && du -s . && file file",
        "time sleep 0",
        "seq 3 | xargs -n1 echo",
        "hostname",
        "locale",
        "which bash && type cat && command -v ls",
        "coproc cat; echo x >&\"${COPROC[1]}\"; exec {COPROC[1]}>&-; wait",
    ] {
        rig.prints(script);
    }
    let owner = rig.prints("stat -c %U file");
    assert_ne!(owner, "UNKNOWN", "names of users are known");
}

/// A pipe holds this much; bash keeps more in a file, and there is no place for one.
#[test]
fn large_here_document_is_refused_by_name() {
    let Some(rig) = Rig::new() else { return };
    let text = |size| format!("wc -c <<'END'\n{}\nEND", "x".repeat(size));
    assert_eq!(rig.prints(&text(60_000)), "60001");
    let output = rig.bash(&text(100_000));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(error.contains("cannot create temp file for here"), "{error}");
}

/// Shims of version managers read below the home folder, wherever that is.
#[test]
fn confined_programs_print_their_versions() {
    let Some(mut rig) = Rig::new() else { return };
    rig.confinement.readable = Readable::Everything;
    for program in
        ["bash", "git", "perl", "gcc", "make", "node", "npm", "python3", "cargo", "rustc"]
    {
        if is_there(program) && works_outside(program) {
            let told = rig.prints(&format!("{program} --version"));
            assert!(told.chars().any(|letter| letter.is_ascii_digit()), "{told}");
        }
    }
    assert!(!rig.bash("echo x > file").status.success());
    assert!(!rig.bash("exec 3<>/dev/udp/127.0.0.1/9").status.success());
}

fn works_outside(program: &str) -> bool {
    let output = std::process::Command::new(program).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}
