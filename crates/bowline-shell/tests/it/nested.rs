//! Nested commands of wrappers.

use bowline_shell::{Nested, parse};

/// All layers of the first command, and a `?` if there may be more.
fn layers(command_line: &str) -> Vec<String> {
    let script = parse(command_line);
    let (layers, complete) = script.commands[0].layers();
    let mut texts: Vec<String> = layers.iter().map(|layer| layer.text()).collect();
    if !complete {
        texts.push("?".to_owned());
    }
    texts
}

#[test]
fn every_wrapped_command_is_found() {
    for (command_line, inner) in [
        ("timeout 5 rm x", &["rm x"][..]),
        ("timeout -k 1 -s KILL 5 rm x", &["rm x"]),
        ("timeout --signal=KILL 5 rm -r x", &["rm -r x"]),
        ("time -p rm x", &["rm x"]),
        ("nice -n 5 rm x", &["rm x"]),
        ("nice -n5 rm x", &["rm x"]),
        ("nohup rm x", &["rm x"]),
        ("stdbuf -oL rm x", &["rm x"]),
        ("command rm x", &["rm x"]),
        ("command -v rm", &[]),
        ("env A=1 B=2 rm x", &["rm x"]),
        ("env -i -u A rm x", &["rm x"]),
        ("env -S 'rm x'", &["?"]),
        ("env", &[]),
        ("sudo -u root rm x", &["rm x"]),
        ("sudo -nE rm x", &["rm x"]),
        ("sudo A=b rm x", &["rm x"]),
        ("time ! rm x", &["?"]),
        ("busybox rm x", &["rm x"]),
        ("flock lock rm x", &["rm x"]),
        ("xargs --arg-file list rm x", &["rm x INPUT"]),
        ("xargs -n 1 -I {} rm {}", &["rm {}"]),
        ("xargs", &[]),
        ("find . -exec rm {} \\; -execdir touch a +", &["rm {}", "touch a"]),
        ("find . -name x", &[]),
        ("bash -c 'a && rm x'", &["a", "rm x"]),
        ("bash -lc 'rm x'", &["rm x"]),
        ("bash -c -e 'rm x'", &["rm x"]),
        ("bash -c \"$x\"", &["?"]),
        ("bash script.sh", &[]),
        ("bash -O extglob -c 'rm x'", &["rm x"]),
        ("bash -eo pipefail -c 'rm x'", &["rm x"]),
        ("bash --rcfile f -c 'rm x'", &["rm x"]),
        ("bash", &["?"]),
        ("bash -s", &["?"]),
        ("sh - x", &[]),
        ("sh /dev/stdin", &["?"]),
        (". <(echo rm x)", &["?"]),
        ("source /dev/stdin", &["?"]),
        (". ./x", &[]),
        ("hash -p /bin/rm ls", &["?"]),
        ("git -C a -c alias.x='!rm x' x", &["?"]),
        ("git -c user.name=x commit", &[]),
        ("find . -exec sh -c 'cat {}' +", &["sh -c 'cat {}'", "?"]),
        ("xargs -I X sh -c 'rm X'", &["sh -c 'rm X'", "?"]),
        ("eval rm x", &["rm x"]),
        ("eval \"$x\"", &["?"]),
        ("trap 'rm x' EXIT", &["rm x"]),
        ("timeout 5 sudo bash -c 'rm x'", &["sudo bash -c 'rm x'", "bash -c 'rm x'", "rm x"]),
        ("/usr/bin/timeout 5 rm x", &["rm x"]),
        ("watch -n 1 rm x", &["rm x"]),
        ("timeout $x rm y", &["?"]),
        ("ls", &[]),
    ] {
        assert_eq!(layers(command_line)[1..], *inner, "{command_line}");
    }
}

#[test]
fn only_transparent_wrappers_run_the_same_command() {
    let nested = |text: &str| parse(text).commands[0].nested();
    assert!(matches!(nested("timeout 5 ls"), Nested::Same(_)));
    assert!(matches!(nested("time -p ls"), Nested::Same(_)));
    assert!(matches!(nested("time -o out ls"), Nested::Others(_)));
    assert!(matches!(nested("time $x ls"), Nested::Unknown));
    assert!(matches!(nested("sudo ls"), Nested::Others(_)));
    assert!(matches!(nested("env A=b ls"), Nested::Others(_)));
    assert!(matches!(nested("bash -c ls"), Nested::Script(_)));
}
