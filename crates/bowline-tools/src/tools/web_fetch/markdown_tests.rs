//! Tests of the conversion of HTML within its limits.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::*;

/// Far more than any of these pages needs, even where nothing is optimized.
const PATIENCE: Duration = Duration::from_secs(60);

fn stop(within: Duration) -> Stop {
    Stop { deadline: Instant::now() + within, cancel: CancellationToken::new() }
}

fn read(html: &str) -> Result<String, String> {
    from_html(html, &stop(PATIENCE))
}

#[test]
fn content_is_kept_and_page_chrome_removed() {
    let html = "<html><head><title>T</title><style>p{}</style></head><body><h1>Hi</h1>\
                <script>alert(1)</script><p>A <a href=\"/x\">link</a>.</p></body></html>";
    assert_eq!(read(html).unwrap(), "# Hi\n\nA [link](/x).");
    let html = "<ul><li>a<ol><li>b</ol></ul><blockquote>q</blockquote><pre><code>c\n</code></pre>\
                <table><tr><th>h</th></tr><tr><td>d</td></tr></table>";
    let text = read(html).unwrap();
    for part in ["*   a", "1.  b", "> q", "```\nc\n```", "| h |", "| d |"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn endlessly_nested_page_is_refused_while_parsing() {
    let flood = |text: &str| text.repeat(MAX_HTML / 8 / text.len());
    let open: String = (0..200).map(|n| format!("<b a={n}>")).collect();
    for html in [
        flood("<div>"),
        flood("<b>"),
        flood("<table><tr><td>"),
        flood("<table><caption>"),
        flood("<ul><li>"),
        flood("<blockquote>"),
        flood("<template>"),
        flood("<template><div>"),
        flood("<svg>"),
        flood("<math><mi>"),
        flood("<object>"),
        format!("<table>{}", flood("<div>")),
        // Every paragraph repeats what is open.
        format!("<p>{open}{}", flood("</p><p>x")),
    ] {
        let began = Instant::now();
        let error = read(&html).expect_err(&html[..40]);
        assert!(error.contains("256 levels") || error.contains("elements"), "{error}");
        assert!(began.elapsed() < Duration::from_secs(20), "{} {:?}", &html[..40], began.elapsed());
    }
}

#[test]
fn tag_with_too_many_attributes_is_refused() {
    let attributes: String = (0..300_000).map(|n| format!(" a{n}")).collect();
    assert!(read(&format!("<div{attributes}>x</div>")).unwrap_err().contains("attributes"));
}

#[test]
fn line_prefixes_are_limited() {
    let (open, close) = ("<blockquote>".repeat(240), "</blockquote>".repeat(240));
    let lines = format!("{open}<pre>{}</pre>{close}", "x\n".repeat(1_000_000));
    let text = read(&lines).unwrap();
    assert!(text.len() < MAX_MARKDOWN + 100, "{}", text.len());
    assert!(text.ends_with("the beginning of it.]"));
    let (open, close) = ("<ul><li>".repeat(120), "</ul>".repeat(120));
    let text = read(&format!("{open}{}{close}", "x<br>".repeat(300_000))).unwrap_or_default();
    assert!(text.len() < MAX_MARKDOWN + 100, "{}", text.len());
}

#[test]
fn wide_table_cell_does_not_pad_other_rows() {
    let rows = "<tr><td>short</td></tr>".repeat(20_000);
    let html = format!("<table><tr><td>{}</td></tr>{rows}</table>", "wide ".repeat(100_000));
    let text = read(&html).unwrap();
    assert!(text.len() < MAX_HTML && text.contains("short"), "{}", text.len());
}

#[test]
fn large_flat_pages_convert_in_time() {
    for html in [
        "&lt;".repeat(50_000),
        "&".repeat(MAX_HTML / 8),
        "&amp".repeat(50_000),
        format!("<!--{}", "-".repeat(MAX_HTML / 8)),
        "<!--".repeat(50_000),
        "<".repeat(MAX_HTML / 8),
        "</".repeat(MAX_HTML / 16),
        "<i>x</i>".repeat(20_000),
        "<a href=x>".repeat(20_000),
        "\0".repeat(MAX_HTML / 8),
        "*_`[".repeat(MAX_HTML / 8),
        "<br>".repeat(20_000),
        "<li>x".repeat(20_000),
        "<p>".repeat(20_000),
        "<![CDATA[".repeat(20_000),
        format!("<select><button><selectedcontent></button>{}", "<option>x".repeat(20_000)),
        format!("<ol start=99999>{}</ol>", "<li>x</li>".repeat(20_000)),
    ] {
        let began = Instant::now();
        // Some exceed a limit; none takes long to find that out.
        let length = read(&html).map_or(0, |text| text.len());
        assert!(length < MAX_MARKDOWN + 100);
        assert!(began.elapsed() < PATIENCE, "{} {:?}", &html[..20], began.elapsed());
    }
}

#[test]
fn long_page_is_truncated() {
    let html = format!("<p>first</p>{}<p>last</p>", " ".repeat(MAX_HTML));
    let text = read(&html).unwrap();
    assert!(text.starts_with("first\n\n[WebFetch note"), "{text}");
}

#[test]
fn conversion_stops_when_canceled() {
    let html = "<p>x</p>".repeat(100_000);
    assert!(from_html(&html, &stop(Duration::ZERO)).unwrap_err().contains("too long"));
    let cancelled = stop(PATIENCE);
    cancelled.cancel.cancel();
    assert_eq!(from_html(&html, &cancelled).unwrap_err(), "interrupted");
}

#[test]
fn deep_nesting_converts_in_time() {
    for level in ["<table><caption>", "<table><tr><td>", "<table><thead><tr><th>", "<ol><li>"] {
        let html = format!("{}x", level.repeat(240 / level.matches('<').count() / 2));
        let began = Instant::now();
        from_html(&html, &stop(Duration::from_secs(2))).ok();
        assert!(began.elapsed() < Duration::from_secs(20), "{level} {:?}", began.elapsed());
    }
}
