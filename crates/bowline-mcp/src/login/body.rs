//! Answers of authorities, which are small.

/// What is read of an answer at most. Tokens and descriptions have a few kilobytes.
const LONGEST: usize = 1 << 20;

/// The body of an answer, unless it is too long.
pub(super) async fn read(mut answer: reqwest::Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| error.to_string())? {
        if body.len() + chunk.len() > LONGEST {
            return Err(format!("the answer is longer than {LONGEST} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
