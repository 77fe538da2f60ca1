//! Lists of rules as people type them.

/// Splits words at commas and spaces outside parentheses, as in `Bash(git log, x) Edit`.
pub(crate) fn split_rules(words: &[String]) -> Vec<String> {
    let mut rules = Vec::new();
    for word in words {
        let mut rule = String::new();
        let (mut depth, mut escaped) = (0_usize, false);
        for char in word.chars() {
            match char {
                ',' | ' ' | '\n' | '\t' if depth == 0 => rules.push(std::mem::take(&mut rule)),
                _ => {
                    match char {
                        '(' if !escaped => depth += 1,
                        ')' if !escaped => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    rule.push(char);
                }
            }
            escaped = char == '\\' && !escaped;
        }
        rules.push(rule);
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

#[cfg(test)]
mod tests {
    use super::split_rules;

    #[test]
    fn commas_and_spaces_separate_outside_parentheses() {
        let cases: &[(&[&str], &[&str])] = &[
            (&["Bash,Edit"], &["Bash", "Edit"]),
            (&["Bash Edit"], &["Bash", "Edit"]),
            (&["Bash", "Edit"], &["Bash", "Edit"]),
            (&["Bash(git log, x),Edit"], &["Bash(git log, x)", "Edit"]),
            (&["Bash(git *) Edit"], &["Bash(git *)", "Edit"]),
            (&["Bash(echo (a, b)) Read"], &["Bash(echo (a, b))", "Read"]),
            (&[r"Bash(echo \) x) Read"], &[r"Bash(echo \) x)", "Read"]),
            (&["", " , "], &[]),
            (&["mcp__a__b,mcp__c"], &["mcp__a__b", "mcp__c"]),
        ];
        for (words, rules) in cases {
            let words: Vec<_> = words.iter().map(ToString::to_string).collect();
            assert_eq!(split_rules(&words), *rules, "{words:?}");
        }
    }
}
