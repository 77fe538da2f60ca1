//! Names of tools and prompts of servers.

/// Between the parts of a name.
const SEPARATOR: &str = "__";

/// `name` with everything but ASCII letters, digits, `_` and `-` made `_`.
pub fn public_name(name: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if keep(c) { c } else { '_' }).collect()
}

/// `mcp__<server>__<tool>`: the full name of a tool or prompt.
pub fn tool_name(server: &str, tool: &str) -> String {
    format!("mcp{SEPARATOR}{}{SEPARATOR}{}", public_name(server), public_name(tool))
}

/// The display name of a tool without a title: `get_sum` is `Get Sum`.
pub fn spoken(name: &str) -> String {
    let words = name.split(['_', '-', ' ']).filter(|word| !word.is_empty());
    let capitalized = words.map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
        first + letters.as_str()
    });
    capitalized.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_names_have_only_characters_of_the_api() {
        assert_eq!(tool_name("my server.v2", "get/sum"), "mcp__my_server_v2__get_sum");
        assert_eq!(tool_name("a-b_c", "x"), "mcp__a-b_c__x");
        assert_eq!(public_name("größe"), "gr__e");
    }

    #[test]
    fn display_names_are_capitalized_words() {
        assert_eq!(spoken("add"), "Add");
        assert_eq!(spoken("get_sum-of all"), "Get Sum Of All");
    }
}
