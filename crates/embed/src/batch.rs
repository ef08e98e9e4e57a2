//! Many texts at once.

use std::num::NonZeroUsize;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Model, Vector};

impl Model {
    /// Embeds texts on up to `threads` threads; vectors come in the order of the texts, and each
    /// has the bits that [`embed`](Self::embed) gives. WebAssembly has one thread.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn embed_batch<S: AsRef<str> + Sync>(
        &self,
        texts: &[S],
        threads: NonZeroUsize,
    ) -> Vec<Vector> {
        let threads = threads.get().min(texts.len());
        if threads <= 1 {
            return texts.iter().map(|text| self.embed(text.as_ref())).collect();
        }
        // Threads take the next text as they get free: texts differ in length.
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(text) = texts.get(at) else {
                    return done;
                };
                done.push((at, self.embed(text.as_ref())));
            }
        };
        let mut vectors = vec![[0.0; crate::DIMENSIONS]; texts.len()];
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut done = work();
            for other in others {
                match other.join() {
                    Ok(part) => done.extend(part),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            for (at, vector) in done {
                vectors[at] = vector;
            }
        });
        vectors
    }

    /// Embeds texts one after another: WebAssembly has one thread.
    #[cfg(target_arch = "wasm32")]
    pub fn embed_batch<S: AsRef<str> + Sync>(
        &self,
        texts: &[S],
        _threads: NonZeroUsize,
    ) -> Vec<Vector> {
        texts.iter().map(|text| self.embed(text.as_ref())).collect()
    }
}
