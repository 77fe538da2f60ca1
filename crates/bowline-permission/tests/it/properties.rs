//! Properties that hold for every command.

use proptest::prelude::*;

use super::bench::Bench;

fn word() -> impl Strategy<Value = String> {
    "[a-z0-9./-]{1,6}|'[a-z ;&|]{0,6}'"
}

fn operator() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![" && ", " || ", " ; ", " | ", " & ", "\n", "&&", ";", "|"])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_allowed_prefix_never_allows_another_command(
        allowed in prop::collection::vec(word(), 0..3),
        operator in operator(),
        name in "[a-z]{3,6}x",
        arguments in prop::collection::vec(word(), 0..3),
        order in any::<bool>(),
    ) {
        let bench = Bench::new().rules(&["allow Bash(git *)"]);
        let allowed = format!("git {}", allowed.join(" "));
        let other = format!("{name} {}", arguments.join(" "));
        let line = match order {
            true => format!("{allowed}{operator}{other}"),
            false => format!("{other}{operator}{allowed}"),
        };
        let verdict = bench.short(&format!("Bash {line}"));
        prop_assert!(verdict.starts_with("ask"), "{}: {}", line, verdict);
    }

    #[test]
    fn deny_always_wins(
        before in prop::collection::vec(word(), 0..3),
        operator in operator(),
        mode in prop::sample::select(vec!["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk"]),
        hook in any::<bool>(),
        wrapper in prop::sample::select(vec!["", "timeout 5 ", "sudo ", "env A=b ", "nohup "]),
    ) {
        let rules = ["allow Bash", "allow Bash(git *)", "allow Bash(push:*)", "ask Bash", "deny Bash(push *)"];
        let mut bench = Bench::new().mode(mode).rules(&rules);
        if hook {
            bench = bench.hook("allow");
        }
        let line = format!("git {}{operator}{wrapper}push it", before.join(" "));
        prop_assert_eq!(bench.short(&format!("Bash {line}")), "deny subcommandResults", "{}", line);
    }

    #[test]
    fn arbitrary_text_does_not_panic(text in "\\PC{0,40}", rule in "\\PC{0,20}") {
        let bench = Bench::new().rules(&[
            &format!("allow Bash({rule})"), &format!("deny Read({rule})"), &format!("ask {rule}"),
        ]);
        for tool in ["Bash", "Read", "Write", "WebFetch", "Skill"] {
            bench.verdict(&format!("{tool} {text}"));
        }
    }
}
