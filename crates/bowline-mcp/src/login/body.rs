//! Response bodies of authorization servers, which are small.

/// The most that is read of a response. Tokens and descriptions have a few kilobytes.
const LONGEST: usize = 1 << 20;

/// The body of a response, unless it is too long.
pub(super) async fn read(mut response: reqwest::Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| error.to_string())? {
        if body.len() + chunk.len() > LONGEST {
            return Err(format!("the response is longer than {LONGEST} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
