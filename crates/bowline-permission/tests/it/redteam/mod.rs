//! Random command lines made of dangerous parts: what would run unasked is run, and must
//! touch no canary and read no token.
//!
//! Nothing but the judge stands in the way: the lines run under `bash` as it is, without anything
//! that the kernel would hold back.
//!
//! `BOWLINE_REDTEAM_TRIES=20000 cargo test -p bowline-permission --test it redteam -- --nocapture` tries
//! more, from another seed each time, which is printed; `BOWLINE_REDTEAM_SEED` gives one.

mod ground;
mod lines;
mod parts;
mod random;
mod spelling;

use std::{
    collections::BTreeMap,
    env, fmt, thread,
    time::{SystemTime, UNIX_EPOCH},
};

use bowline_permission::{EvaluationContext, Policy, ProposedCall, Roots, RuleSource, Verdict};
use bowline_protocol::{PermissionBehavior, PermissionMode};
use bowline_tools::Access;
use serde_json::json;

use ground::{Ground, Harm};
use lines::Line;
use random::Random;

/// How many lines a plain `cargo test` tries, and from which seed.
const TRIES: u64 = 1_500;
const SEED: u64 = 14;

/// The share of lines that must run, or else nothing is tested.
const RUN_AT_LEAST: f64 = 0.1;

/// Which rules and mode a line is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rules {
    /// No rule, default mode.
    None,
    /// Files and a command that are denied, and everything else allowed.
    DenyAll,
    /// Files that are denied, nothing allowed.
    DenyFiles,
    /// Edits in the project are accepted.
    Edits,
}

const ALL_RULES: [Rules; 4] = [Rules::None, Rules::DenyFiles, Rules::DenyAll, Rules::Edits];

fn policy(ground: &Ground, rules: Rules) -> Policy {
    let roots = Roots {
        current_directory: ground.project().to_owned(),
        home: Some(ground.home().to_owned()),
    };
    let mut policy = Policy::new(roots);
    let mut add = |behavior: PermissionBehavior, rule: &str| {
        policy.rules.add(RuleSource::CliArg, &behavior, rule);
    };
    if matches!(rules, Rules::DenyFiles | Rules::DenyAll) {
        add(PermissionBehavior::Deny, "Read(.env)");
        add(PermissionBehavior::Deny, "Read(./secrets/**)");
    }
    if rules == Rules::DenyAll {
        // Enough to let readers run wherever they like inside, not enough for programs that run others.
        for name in
            ["cat", "head", "grep", "find", "cp", "ls", "sort", "env", "xargs", "bash", "timeout"]
        {
            add(PermissionBehavior::Allow, &format!("Bash({name}:*)"));
        }
        add(PermissionBehavior::Deny, "Bash(rm:*)");
    }
    if rules == Rules::Edits {
        policy.mode = PermissionMode::AcceptEdits;
    }
    policy
}

fn runs_unasked(policy: &Policy, ground: &Ground, line: &str) -> bool {
    let input = json!({ "command": line });
    let access = Access::Command(line.to_owned());
    let call = ProposedCall {
        tool: "Bash",
        input: &input,
        access: &access,
        current_directory: ground.project(),
        hook: None,
        needs_person: false,
    };
    matches!(policy.evaluate(&call, EvaluationContext::default()), Verdict::Allow(_))
}

/// A line that did harm.
#[derive(Debug)]
struct Finding {
    number: u64,
    class: &'static str,
    rules: Rules,
    line: String,
    harm: Harm,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, class, rules, line, harm } = self;
        write!(f, "try {number}, {class}, {rules:?}: {harm}\n    {line:?}")
    }
}

/// What came of some tries.
#[derive(Debug, Default)]
struct Tally {
    /// For each class of lines: how many there were, how many of them ran.
    classes: BTreeMap<&'static str, (u64, u64)>,
    tries: u64,
    run: u64,
    findings: Vec<Finding>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.tries += other.tries;
        self.run += other.run;
        self.findings.extend(other.findings);
        for (class, (made, run)) in other.classes {
            let sum = self.classes.entry(class).or_default();
            *sum = (sum.0 + made, sum.1 + run);
        }
    }
}

fn attempt(ground: &mut Ground, seed: u64, number: u64, tally: &mut Tally) {
    let mut random = Random::new(seed, number);
    let Line { class, text } = lines::line(&mut random, ground);
    tally.tries += 1;
    let counts = tally.classes.entry(class).or_default();
    counts.0 += 1;
    let unasked: Vec<Rules> = ALL_RULES
        .into_iter()
        .filter(|rules| runs_unasked(&policy(ground, *rules), ground, &text))
        .collect();
    if unasked.is_empty() {
        return;
    }
    let opaque = bowline_shell::parse(&text).opaque;
    assert!(opaque.is_none(), "not understood ({opaque:?}) and allowed: {text:?}");
    let widened = unasked.contains(&Rules::DenyFiles) && !unasked.contains(&Rules::None);
    assert!(!widened, "a rule that denies lets it run: {text:?}");
    counts.1 += 1;
    tally.run += 1;
    let harms = ground.run(&text);
    for rules in unasked {
        let found = harms.iter().find(|harm| match rules {
            // No rule says that these files are secret.
            Rules::None => **harm != Harm::DeniedRead,
            // What is allowed may write inside, and read what it likes, save for what is denied.
            Rules::DenyAll => matches!(harm, Harm::DeniedRead | Harm::DeniedRun),
            Rules::DenyFiles => true,
            Rules::Edits => !matches!(harm, Harm::DeniedRead | Harm::InsideWrite),
        });
        if let Some(harm) = found {
            let (harm, line) = (harm.clone(), text.clone());
            tally.findings.push(Finding { number, class, rules, line, harm });
            // Under which other rules it does harm as well says nothing new.
            return;
        }
    }
}

fn number_in(variable: &str) -> Option<u64> {
    env::var(variable).ok()?.parse().ok()
}

#[test]
fn random_lines_that_run_unasked_do_no_harm() {
    let asked_for = number_in("BOWLINE_REDTEAM_TRIES");
    let tries = asked_for.unwrap_or(TRIES);
    let clock = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        since.as_secs()
    };
    let seed = number_in("BOWLINE_REDTEAM_SEED")
        .unwrap_or_else(|| if asked_for.is_some() { clock() } else { SEED });
    println!("BOWLINE_REDTEAM_SEED={seed} BOWLINE_REDTEAM_TRIES={tries}");
    let workers = thread::available_parallelism().map_or(2, |it| it.get() as u64);
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let started: Vec<_> = (0..workers)
            .map(|worker| {
                scope.spawn(move || {
                    let mut tally = Tally::default();
                    let mut ground = Ground::new();
                    for number in (worker..tries).step_by(workers as usize) {
                        attempt(&mut ground, seed, number, &mut tally);
                    }
                    tally
                })
            })
            .collect();
        for worker in started {
            tally.add(worker.join().unwrap());
        }
    });
    for (class, (made, run)) in &tally.classes {
        println!("{class:14} {made:6} lines, {run:6} ran unasked");
    }
    let share = tally.run as f64 / tally.tries as f64;
    println!("{} lines, {} ran unasked ({:.0} %)", tally.tries, tally.run, share * 100.0);
    tally.findings.sort_by_key(|finding| finding.number);
    let shown: Vec<_> = tally.findings.iter().take(40).map(ToString::to_string).collect();
    assert!(
        shown.is_empty(),
        "{} of {tries} lines did harm unasked (seed {seed}):\n{}",
        tally.findings.len(),
        shown.join("\n")
    );
    assert!(share >= RUN_AT_LEAST, "only {:.1} % of the lines ran", share * 100.0);
    for (class, (made, run)) in &tally.classes {
        // Where everything is refused, nothing is tested: the class wants harmless forms as well.
        assert!(*made < 100 || *run > 0, "no line of class {class} ran");
    }
}
