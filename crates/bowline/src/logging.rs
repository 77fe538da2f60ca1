//! Debug logs: `--debug` and `--debug-file`.

use std::sync::Mutex;

use anyhow::Context;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{
    Layer, filter::FilterFn, fmt, layer::SubscriberExt, util::SubscriberInitExt,
};

use crate::{args::OutputArgs, terminal::Stderr};

/// Starts the debug log, if the command line enables it.
pub(crate) fn start(args: &OutputArgs) -> anyhow::Result<()> {
    let to_stderr = args.debug.is_some() || args.debug_to_stderr;
    if !to_stderr && args.debug_file.is_none() {
        return Ok(());
    }
    let filter = Filter::read(args.debug.as_deref().unwrap_or_default());
    let events = FilterFn::new(move |event| filter.wants(event.target()))
        .with_max_level_hint(LevelFilter::DEBUG);
    let registry = tracing_subscriber::registry();
    match &args.debug_file {
        Some(path) => {
            let file = bowline_private::named_file(path, true);
            let file = file.with_context(|| format!("--debug-file {}", path.display()))?;
            let layer = fmt::layer().with_ansi(false).with_writer(Mutex::new(file));
            registry.with(layer.with_filter(events)).init();
        }
        None => {
            let layer = fmt::layer().with_ansi(false).with_writer(|| Stderr);
            registry.with(layer.with_filter(events)).init();
        }
    }
    Ok(())
}

/// Filter of the parts that are logged, as in `engine,mcp` or `!peer`.
#[derive(Debug, Default, PartialEq)]
struct Filter {
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

impl Filter {
    fn read(text: &str) -> Self {
        let mut filter = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match part.strip_prefix('!') {
                Some(part) => filter.unwanted.push(part.to_owned()),
                None => filter.wanted.push(part.to_owned()),
            }
        }
        filter
    }

    fn wants(&self, target: &str) -> bool {
        let is_about = |parts: &[String]| parts.iter().any(|part| target.contains(part.as_str()));
        // Events of libraries would bury everything else.
        target.starts_with("bowline")
            && (self.wanted.is_empty() || is_about(&self.wanted))
            && !is_about(&self.unwanted)
    }
}

#[cfg(test)]
mod tests {
    use super::Filter;

    #[test]
    fn filters() {
        let cases = [
            ("", "bowline_engine::turn", true),
            ("", "hyper::client", false),
            ("engine", "bowline_engine::turn", true),
            ("mcp", "bowline_engine::turn", false),
            ("!engine", "bowline_engine::turn", false),
            ("!engine", "bowline_mcp", true),
        ];
        for (filter, target, wanted) in cases {
            assert_eq!(Filter::read(filter).wants(target), wanted, "{filter} {target}");
        }
    }
}
