//! Pages fetched a moment ago.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use reqwest::Url;

use super::fetch::Fetched;
use crate::workspace::lock;

/// A page asked about twice in one conversation is the same page.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Pages are up to 10 MiB; more than a few are not worth their memory.
const MAX_PAGES: usize = 8;

/// The last pages, oldest first.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<Vec<(Url, Instant, Arc<Fetched>)>>);

impl Cache {
    pub(super) fn get(&self, url: &Url) -> Option<Arc<Fetched>> {
        let mut pages = lock(&self.0);
        pages.retain(|(_, at, _)| at.elapsed() < LIFETIME);
        pages.iter().find(|(known, _, _)| known == url).map(|(_, _, page)| Arc::clone(page))
    }

    /// Remembers a page that came well.
    pub(super) fn put(&self, url: &Url, fetched: Fetched) -> Arc<Fetched> {
        let good = matches!(&fetched, Fetched::Page(page) if page.status.is_success());
        let fetched = Arc::new(fetched);
        if good {
            let mut pages = lock(&self.0);
            pages.retain(|(known, _, _)| known != url);
            pages.push((url.clone(), Instant::now(), Arc::clone(&fetched)));
            let surplus = pages.len().saturating_sub(MAX_PAGES);
            pages.drain(..surplus);
        }
        fetched
    }
}
