//! The browser's clock and randomness.

use lore_replica::Host;

/// `Date.now()` and `crypto.getRandomValues`.
pub(crate) struct Browser;

impl Host for Browser {
    fn now(&self) -> i64 {
        js_sys::Date::now() as i64
    }

    fn random(&mut self, bytes: &mut [u8]) {
        // A browser without a random generator cannot run this page at all.
        getrandom::fill(bytes).expect("the browser's random generator");
    }
}
