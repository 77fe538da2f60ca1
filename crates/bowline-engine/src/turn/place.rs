//! A call's place among those of other clients, where there is no conversation that lines calls up.
//!
//! It is taken before the call is looked at, because what is allowed depends on what other calls do
//! (they move the current directory), and left while somebody is asked, because people take their time.
//! Only a call that may run takes it again.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use super::schedule::Beside;

/// The places there are: one for any number of calls that are safe beside each other, or for one call.
pub(crate) type Places = Arc<RwLock<()>>;

/// A place that is taken. Dropping it leaves it.
pub(crate) struct Place {
    places: Places,
    beside: Beside,
    /// `None` while somebody is asked, and from then on if the call may not run.
    held: Mutex<Option<Held>>,
}

/// What keeps others out.
enum Held {
    Shared { _guard: OwnedRwLockReadGuard<()> },
    Alone { _guard: OwnedRwLockWriteGuard<()> },
}

impl Place {
    /// Waits for a place.
    pub(crate) async fn take(places: &Places, beside: Beside) -> Self {
        let held = Held::wait(places, beside).await;
        Self { places: Arc::clone(places), beside, held: Mutex::new(Some(held)) }
    }

    /// Lets others have the place.
    pub(crate) fn leave(&self) {
        self.hold(None);
    }

    /// Waits for a place once more, behind [`leave`](Self::leave).
    ///
    /// Cancel safety: dropping the future leaves the call without a place.
    pub(crate) async fn take_again(&self) {
        self.hold(Some(Held::wait(&self.places, self.beside).await));
    }

    fn hold(&self, held: Option<Held>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = held;
    }
}

impl Held {
    async fn wait(places: &Places, beside: Beside) -> Self {
        let places = Arc::clone(places);
        match beside {
            Beside::Safe => Self::Shared { _guard: places.read_owned().await },
            Beside::Nothing => Self::Alone { _guard: places.write_owned().await },
        }
    }
}
