//! `${VAR}` and `${VAR:-default}` in server configurations.

use bowline_protocol::McpServerConfig;

/// Replaces variables in the command, arguments, environment, address, headers and client of a
/// server.
///
/// A variable without a value and without a default stays as it is written; its name is returned,
/// so that the user can be warned.
pub fn expand(
    config: &mut McpServerConfig,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut missing = Vec::new();
    let mut replace = |text: &mut String| expand_text(text, lookup, &mut missing);
    match config {
        McpServerConfig::Stdio(program) => {
            replace(&mut program.command);
            program.args.iter_mut().flatten().for_each(&mut replace);
            program.env.iter_mut().flat_map(|env| env.values_mut()).for_each(&mut replace);
        }
        McpServerConfig::Http(remote) | McpServerConfig::Sse(remote) => {
            replace(&mut remote.url);
            remote.headers.iter_mut().flat_map(|all| all.values_mut()).for_each(&mut replace);
            if let Some(oauth) = &mut remote.oauth {
                oauth.client_id.iter_mut().for_each(&mut replace);
                oauth.client_secret.iter_mut().for_each(&mut replace);
                oauth.client_private_key.iter_mut().for_each(&mut replace);
                if let Some(provider) = &mut oauth.identity_provider {
                    replace(&mut provider.issuer);
                    replace(&mut provider.token_endpoint);
                    replace(&mut provider.client_id);
                    provider.client_secret.iter_mut().for_each(&mut replace);
                    replace(&mut provider.id_token);
                }
            }
        }
        _ => {}
    }
    missing.sort();
    missing.dedup();
    missing
}

fn expand_text(
    text: &mut String,
    lookup: &dyn Fn(&str) -> Option<String>,
    missing: &mut Vec<String>,
) {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, opened)) = rest.split_once("${") {
        expanded.push_str(before);
        let Some((inside, after)) = opened.split_once('}') else {
            rest = &rest[before.len()..];
            break;
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        match (lookup(name), default) {
            (Some(value), _) => expanded.push_str(&value),
            (None, Some(default)) => expanded.push_str(default),
            (None, None) => {
                missing.push(name.to_owned());
                expanded.push_str(&rest[before.len()..before.len() + inside.len() + 3]);
            }
        }
        rest = after;
    }
    expanded.push_str(rest);
    *text = expanded;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> (String, Vec<String>) {
        let (mut text, mut missing) = (text.to_owned(), Vec::new());
        let lookup = |name: &str| match name {
            "HOME" => Some("/home/ada".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        expand_text(&mut text, &lookup, &mut missing);
        (text, missing)
    }

    #[test]
    fn variables_and_defaults() {
        let cases = [
            ("plain", "plain"),
            ("${HOME}/bin", "/home/ada/bin"),
            ("${HOME}:${HOME}", "/home/ada:/home/ada"),
            ("${NONE:-/tmp}/x", "/tmp/x"),
            ("${NONE:-}", ""),
            ("${HOME:-/tmp}", "/home/ada"),
            ("${EMPTY:-full}", ""),
            ("$HOME and } and ${", "$HOME and } and ${"),
            ("a ${HOME", "a ${HOME"),
        ];
        for (text, expected) in cases {
            assert_eq!(expanded(text), (expected.to_owned(), vec![]), "{text}");
        }
    }

    #[test]
    fn missing_variables_stay_and_are_named() {
        let (text, missing) = expanded("x ${KEY} y ${HOME} ${OTHER}");
        assert_eq!(text, "x ${KEY} y /home/ada ${OTHER}");
        assert_eq!(missing, ["KEY", "OTHER"]);
    }

    #[test]
    fn every_part_of_a_configuration_is_expanded() {
        let mut config = McpServerConfig::parse(
            r#"{"type":"http","url":"https://${HOST:-localhost}/mcp","headers":{"Authorization":"Bearer ${KEY}"}}"#,
        )
        .unwrap();
        let missing = expand(&mut config, &|_| None);
        assert_eq!(missing, ["KEY"]);
        let McpServerConfig::Http(remote) = config else { panic!("{config:?}") };
        assert_eq!(remote.url, "https://localhost/mcp");
    }
}
