//! Images scaled and compressed to the limits of model APIs.

use std::io::Cursor;

use image::{
    DynamicImage, ImageDecoder, ImageFormat, ImageReader, codecs::jpeg::JpegEncoder,
    imageops::FilterType,
};

/// Model APIs scale larger pictures down themselves, or refuse them.
const MAX_SIDE: u32 = 2000;
/// What model APIs take: 5 MB in base 64.
pub(super) const MAX_BYTES: usize = 5 * 1024 * 1024 / 4 * 3;
/// A picture smaller than this on both sides shows nothing any more.
const MIN_SIDE: u32 = 200;
/// More than any camera makes: a small file that unpacks to more is an attack or an accident.
const MAX_PIXELS: u64 = 150_000_000;
/// From hardly visible to clearly visible losses.
const JPEG_QUALITIES: [u8; 3] = [85, 70, 50];

/// Width and height.
pub(super) type Dimensions = (u32, u32);

/// A picture that fits.
#[derive(Debug)]
pub(super) struct Fitted {
    pub(super) original: Dimensions,
    /// Absent if the picture fits as it is.
    pub(super) scaled: Option<Scaled>,
}

/// A picture that was made to fit.
#[derive(Debug)]
pub(super) struct Scaled {
    pub(super) bytes: Vec<u8>,
    pub(super) media_type: &'static str,
    pub(super) shown: Dimensions,
}

/// Makes a picture fit, if it does not. Takes its time; blocks.
pub(super) fn fit(bytes: &[u8], format: ImageFormat) -> Result<Fitted, String> {
    let reader = || ImageReader::with_format(Cursor::new(bytes), format);
    let original = reader().into_dimensions().map_err(describe)?;
    if original.0.max(original.1) <= MAX_SIDE && bytes.len() <= MAX_BYTES {
        return Ok(Fitted { original, scaled: None });
    }
    if u64::from(original.0) * u64::from(original.1) > MAX_PIXELS {
        return Err(format!("{} x {} pixels are too many", original.0, original.1));
    }
    let mut decoder = reader().into_decoder().map_err(describe)?;
    let orientation = decoder.orientation().map_err(describe)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(describe)?;
    picture.apply_orientation(orientation);
    let original = (picture.width(), picture.height());
    let mut side = original.0.max(original.1).min(MAX_SIDE);
    while side >= MIN_SIDE {
        if side < picture.width().max(picture.height()) {
            picture = picture.resize(side, side, FilterType::Triangle);
        }
        if let Some((bytes, media_type)) = encoded(&picture, format)? {
            let shown = (picture.width(), picture.height());
            return Ok(Fitted { original, scaled: Some(Scaled { bytes, media_type, shown }) });
        }
        side /= 2;
    }
    Err("it cannot be made small enough".to_owned())
}

/// The picture as a file that is small enough, if there is one.
fn encoded(
    picture: &DynamicImage,
    format: ImageFormat,
) -> Result<Option<(Vec<u8>, &'static str)>, String> {
    // Screenshots and drawings stay sharp; photographs are better off as JPEG.
    if matches!(format, ImageFormat::Png | ImageFormat::Gif) {
        let mut png = Vec::new();
        picture.write_to(&mut Cursor::new(&mut png), ImageFormat::Png).map_err(describe)?;
        if png.len() <= MAX_BYTES {
            return Ok(Some((png, "image/png")));
        }
    }
    let opaque = DynamicImage::ImageRgb8(picture.to_rgb8());
    for quality in JPEG_QUALITIES {
        let mut jpeg = Vec::new();
        let encoder = JpegEncoder::new_with_quality(&mut jpeg, quality);
        opaque.write_with_encoder(encoder).map_err(describe)?;
        if jpeg.len() <= MAX_BYTES {
            return Ok(Some((jpeg, "image/jpeg")));
        }
    }
    Ok(None)
}

fn describe(error: image::ImageError) -> String {
    error.to_string()
}
