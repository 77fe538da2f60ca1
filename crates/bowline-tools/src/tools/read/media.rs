//! Images as content blocks.

use std::path::Path;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bowline_protocol::{ContentBlock, ImageBlock, Source};
use image::ImageFormat;
use serde_json::json;

use super::{
    bytes,
    scale::{Dimensions, Fitted, MAX_BYTES, Scaled, fit},
};
use crate::{
    files::blocking,
    output::{ToolFailure, ToolOutput},
    run::size,
};

/// Larger files are no pictures for a model, however they are scaled.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

pub(super) async fn image(path: &Path, bytes_on_disk: u64) -> Result<ToolOutput, ToolFailure> {
    if bytes_on_disk == 0 {
        return Err(ToolFailure::running(format!("Image file is empty: {}", path.display())));
    }
    if bytes_on_disk > MAX_FILE_BYTES {
        return Err(ToolFailure::running(format!(
            "Image file is too large ({}; at most {}): {}. Scale it down first.",
            size(bytes_on_disk),
            size(MAX_FILE_BYTES),
            path.display()
        )));
    }
    let file = bytes(path).await?;
    let Some((format, media_type)) = kind(&file.bytes) else {
        return Err(ToolFailure::running(format!(
            "{} is not a valid PNG/JPEG/GIF/WebP image.",
            path.display()
        )));
    };
    let original_size = file.bytes.len();
    let (bytes, fitted) = blocking(move || {
        let fitted = fit(&file.bytes, format);
        Ok((file.bytes, fitted))
    })
    .await
    .map_err(|error| ToolFailure::running(error.to_string()))?;
    let (original, scaled) = match fitted {
        Ok(Fitted { original, scaled }) => (Some(original), scaled),
        // A picture that we cannot read the API may still be able to.
        Err(_) if original_size <= MAX_BYTES => (None, None),
        Err(error) => {
            let size = size(bytes_on_disk);
            return Err(ToolFailure::running(format!(
                "Image file is too large ({size}): {}. It could not be scaled down: {error}.",
                path.display()
            )));
        }
    };
    let shown = scaled.as_ref().map(|scaled| scaled.shown).or(original);
    let note = scaled.as_ref().and_then(|scaled| note(original?, scaled.shown));
    let (bytes, media_type) = match scaled {
        Some(Scaled { bytes, media_type, .. }) => (bytes, media_type),
        None => (bytes, media_type),
    };
    let data = BASE64_STANDARD.encode(&bytes);
    let mut structured = json!({
        "type": "image",
        "file": { "base64": data, "type": media_type, "originalSize": original_size },
    });
    if let (Some(original), Some(shown)) = (original, shown) {
        structured["file"]["dimensions"] = json!({
            "originalWidth": original.0,
            "originalHeight": original.1,
            "displayWidth": shown.0,
            "displayHeight": shown.1,
        });
    }
    let mut output = ToolOutput::blocks(vec![image_block(media_type, data)]).structured(structured);
    output.follow_up.extend(note.map(ContentBlock::text));
    Ok(output)
}

/// Tells the model how to find its way back to the original, if that is larger.
fn note(original: Dimensions, shown: Dimensions) -> Option<String> {
    let ((width, height), (shown_width, shown_height)) = (original, shown);
    let factor = f64::from(width) / f64::from(shown_width);
    (original != shown).then(|| {
        format!(
            "[Image: original {width}x{height}, displayed at {shown_width}x{shown_height}. \
             Multiply coordinates by {factor:.2} to map to the original image.]"
        )
    })
}

pub(super) fn image_block(media_type: &str, data: String) -> ContentBlock {
    let source = Source::base64(media_type, data);
    ContentBlock::Image(ImageBlock { source, extra: Default::default() })
}

/// What the bytes are, whatever the file is called.
fn kind(bytes: &[u8]) -> Option<(ImageFormat, &'static str)> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some((ImageFormat::Png, "image/png")),
        [0xFF, 0xD8, 0xFF, ..] => Some((ImageFormat::Jpeg, "image/jpeg")),
        [b'G', b'I', b'F', b'8', ..] => Some((ImageFormat::Gif, "image/gif")),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => {
            Some((ImageFormat::WebP, "image/webp"))
        }
        _ => None,
    }
}
