//! The few splices that lead from one text to another.
//!
//! Words, not characters, are compared (a character diff of two sentences interleaves their
//! letters, and a concurrent edit would then merge into nonsense), and each differing stretch is
//! then narrowed by the characters that its ends share. The comparison is the greedy algorithm of
//! E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986).

use std::collections::HashMap;
use std::ops::Range;

use crate::write::Splice;

/// Words put in or taken out, at most; texts further apart than that are replaced as a whole
/// between what their ends share, instead of being compared for a time that grows with the square
/// of the difference.
const DIFFERENT_WORDS: usize = 256;

/// The splices from `old` to `new`: ascending, apart, in the UTF-16 coordinates of `old`.
pub(crate) fn splices(old: &str, new: &str) -> Vec<Splice> {
    let (old_range, new_range) = narrowed(old, 0..old.len(), new, 0..new.len());
    let (old_words, new_words) = (words(old, old_range.clone()), words(new, new_range.clone()));
    let hunks = hunks(
        &numbered(old, &old_words, new, &new_words),
        &old_words,
        &new_words,
        (&old_range, &new_range),
    );
    let (mut bytes, mut units) = (0, 0);
    let mut splices = Vec::with_capacity(hunks.len());
    for (from, to) in hunks {
        let (from, to) = narrowed(old, from, new, to);
        if from.is_empty() && to.is_empty() {
            continue;
        }
        units += utf16_len(&old[bytes..from.start]);
        let delete = utf16_len(&old[from.clone()]);
        splices.push(Splice {
            at: units,
            delete,
            insert: new[to].to_owned(),
        });
        units += delete;
        bytes = from.end;
    }
    splices
}

fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The ranges without the characters that they share at their beginnings and ends.
fn narrowed(
    old: &str,
    from: Range<usize>,
    new: &str,
    to: Range<usize>,
) -> (Range<usize>, Range<usize>) {
    let (a, b) = (&old[from.clone()], &new[to.clone()]);
    let prefix: usize = a
        .chars()
        .zip(b.chars())
        .take_while(|(x, y)| x == y)
        .map(|(c, _)| c.len_utf8())
        .sum();
    let suffix: usize = a[prefix..]
        .chars()
        .rev()
        .zip(b[prefix..].chars().rev())
        .take_while(|(x, y)| x == y)
        .map(|(c, _)| c.len_utf8())
        .sum();
    (
        from.start + prefix..from.end - suffix,
        to.start + prefix..to.end - suffix,
    )
}

/// The words in this range of `text`: runs of letters and digits, runs of white space, and every
/// other character alone.
fn words(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let class = |c: char| {
        if c.is_alphanumeric() {
            1
        } else if c.is_whitespace() {
            2
        } else {
            0
        }
    };
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut last = 0;
    for (at, c) in text[range.clone()].char_indices() {
        let at = range.start + at;
        let end = at + c.len_utf8();
        match words.last_mut() {
            Some(word) if last == class(c) && last != 0 => word.end = end,
            _ => words.push(at..end),
        }
        last = class(c);
    }
    words
}

/// Equal words as equal numbers.
fn numbered<'a>(
    old: &'a str,
    old_words: &[Range<usize>],
    new: &'a str,
    new_words: &[Range<usize>],
) -> (Vec<u32>, Vec<u32>) {
    let mut numbers: HashMap<&'a str, u32> = HashMap::new();
    let mut number = |word: &'a str| {
        let next = numbers.len() as u32;
        *numbers.entry(word).or_insert(next)
    };
    let a = old_words
        .iter()
        .map(|word| number(&old[word.clone()]))
        .collect();
    let b = new_words
        .iter()
        .map(|word| number(&new[word.clone()]))
        .collect();
    (a, b)
}

/// The differing stretches, in bytes of both texts, ascending; `whole` is what is compared.
fn hunks(
    (old_numbers, new_numbers): &(Vec<u32>, Vec<u32>),
    old_words: &[Range<usize>],
    new_words: &[Range<usize>],
    whole: (&Range<usize>, &Range<usize>),
) -> Vec<(Range<usize>, Range<usize>)> {
    let Some(trace) = search(old_numbers, new_numbers) else {
        return vec![(whole.0.clone(), whole.1.clone())];
    };
    // Walks back from the end; a step is one word taken out or put in.
    let (mut x, mut y) = (old_numbers.len(), new_numbers.len());
    let mut steps: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for (d, reach) in trace.iter().enumerate().rev() {
        let down = goes_down(reach, d, x as isize - y as isize);
        let k = x as isize - y as isize + if down { 1 } else { -1 };
        let from_x = reach[index(d, k)];
        let from_y = (from_x as isize - k) as usize;
        let (old_from, new_from) = (from_x, from_y);
        let (old_to, new_to) = if down {
            (from_x, from_y + 1)
        } else {
            (from_x + 1, from_y)
        };
        match steps.last_mut() {
            Some((old, new)) if old.start == old_to && new.start == new_to => {
                old.start = old_from;
                new.start = new_from;
            }
            _ => steps.push((old_from..old_to, new_from..new_to)),
        }
        (x, y) = (from_x, from_y);
    }
    steps.reverse();
    let bytes = |words: &[Range<usize>], range: Range<usize>, whole: &Range<usize>| {
        let place = |at: usize| words.get(at).map_or(whole.end, |word| word.start);
        place(range.start)..place(range.end)
    };
    steps
        .into_iter()
        .map(|(old, new)| {
            (
                bytes(old_words, old, whole.0),
                bytes(new_words, new, whole.1),
            )
        })
        .collect()
}

/// Where diagonal `k` lies in the reach before step `d + 1`, which spans `-d - 1 ..= d + 1`.
fn index(d: usize, k: isize) -> usize {
    (k + d as isize + 1) as usize
}

/// Whether step `d + 1` reaches diagonal `k` by putting a word in.
fn goes_down(reach: &[usize], d: usize, k: isize) -> bool {
    let edge = d as isize + 1;
    k == -edge || (k != edge && reach[index(d, k - 1)] < reach[index(d, k + 1)])
}

/// How far each diagonal was reached before each step, or nothing if the texts are too different.
/// `trace[d]` is indexed by [`index`]; its two outermost diagonals are not reached yet.
fn search(a: &[u32], b: &[u32]) -> Option<Vec<Vec<usize>>> {
    let slide = |mut x: usize, k: isize| {
        let mut y = (x as isize - k) as usize;
        while x < a.len() && y < b.len() && a[x] == b[y] {
            (x, y) = (x + 1, y + 1);
        }
        x
    };
    let mut trace = Vec::new();
    let end = a.len() as isize - b.len() as isize;
    let mut reach = vec![0, slide(0, 0), 0];
    if end == 0 && reach[1] == a.len() {
        return Some(trace);
    }
    for d in 0..DIFFERENT_WORDS {
        let edge = d as isize + 1;
        let mut next = vec![0; reach.len() + 2];
        let mut found = false;
        for k in (-edge..=edge).step_by(2) {
            let x = if goes_down(&reach, d, k) {
                reach[index(d, k + 1)]
            } else {
                reach[index(d, k - 1)] + 1
            };
            // Diagonals beyond the texts' edges stay where they are; nothing ends there.
            if x > a.len() || x as isize - k > b.len() as isize || (x as isize) < k {
                next[index(d + 1, k)] = x;
                continue;
            }
            let x = slide(x, k);
            next[index(d + 1, k)] = x;
            found |= k == end && x == a.len();
        }
        trace.push(reach);
        if found {
            return Some(trace);
        }
        reach = next;
    }
    None
}
