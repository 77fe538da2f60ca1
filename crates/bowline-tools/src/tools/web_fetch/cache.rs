//! Cache of pages fetched a moment ago.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use reqwest::Url;

use super::fetch::Fetched;

/// A page fetched twice in one conversation is served from here.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Pages are up to 10 MiB; more than a few are not worth their memory.
const MAX_PAGES: usize = 8;

/// The last pages, oldest first. What was fetched where private addresses are allowed is not for
/// those who may not reach them.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    url: Url,
    private_allowed: bool,
    at: Instant,
    page: Arc<Fetched>,
}

impl Cache {
    pub(super) fn get(&self, url: &Url, private_allowed: bool) -> Option<Arc<Fetched>> {
        let mut pages = self.0.lock();
        pages.retain(|kept| kept.at.elapsed() < LIFETIME);
        let found =
            pages.iter().find(|kept| kept.url == *url && kept.private_allowed == private_allowed);
        found.map(|kept| Arc::clone(&kept.page))
    }

    /// Remembers a page that came well.
    pub(super) fn put(&self, url: &Url, private_allowed: bool, fetched: Fetched) -> Arc<Fetched> {
        let good = matches!(&fetched, Fetched::Page(page) if page.status.is_success());
        let page = Arc::new(fetched);
        if good {
            let mut pages = self.0.lock();
            pages.push(Kept {
                url: url.clone(),
                private_allowed,
                at: Instant::now(),
                page: Arc::clone(&page),
            });
            let surplus = pages.len().saturating_sub(MAX_PAGES);
            pages.drain(..surplus);
        }
        page
    }
}
