//! Milliseconds for a text of 16, 64 and 256 tokens: `speed <weights file>`.

use std::error::Error;
use std::time::Instant;

use lore_embed::{Kernel, Model};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os()
        .nth(1)
        .ok_or("usage: speed <weights file>")?;
    let file = std::fs::read(path)?;
    let begun = Instant::now();
    let mut model = Model::from_vec(file)?;
    println!(
        "loaded in {:.1} ms: {}",
        begun.elapsed().as_secs_f64() * 1e3,
        model.id()
    );
    for kernel in [Kernel::best(), Kernel::Portable] {
        model = model.with_kernel(kernel);
        for tokens in [16, 64, 256] {
            let text = "salt ".repeat(tokens - 2);
            assert_eq!(model.tokenize(&text).len(), tokens);
            let rounds = 2_000 / tokens;
            let mut times: Vec<f64> = (0..rounds.max(9))
                .map(|_| {
                    let begun = Instant::now();
                    std::hint::black_box(model.embed(&text));
                    begun.elapsed().as_secs_f64() * 1e3
                })
                .collect();
            times.sort_by(f64::total_cmp);
            println!(
                "{kernel:?}, {tokens} tokens: median {:.1} ms, least {:.1} ms",
                times[times.len() / 2],
                times[0]
            );
        }
    }
    Ok(())
}
