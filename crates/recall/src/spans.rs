//! Cutting a Markdown body into spans, the unit of recall.

use serde::{Deserialize, Serialize};

/// A span covers at most this many lines.
pub const MAX_SPAN_LINES: usize = 40;
/// A span's text has at most this many characters, about what the embedding model reads.
pub const MAX_SPAN_CHARS: usize = 1200;

/// A piece of a body with its address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// The nearest heading above, without its marks.
    pub anchor: Option<String>,
    /// The headings that contain the anchor, outermost first.
    pub trail: Vec<String>,
    /// First line of the body that the span covers, from 1.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// The lines joined by `\n`, without heading lines and without blank lines at either end.
    pub text: String,
}

impl Span {
    /// Trail and anchor together, as [`crate::Document::headings`] wants them.
    pub fn headings(&self) -> Vec<String> {
        let mut headings = self.trail.clone();
        headings.extend(self.anchor.clone());
        headings
    }
}

/// Cuts `body` into spans, in order. There is always at least one.
///
/// Headings (ATX and setext, outside code fences) begin a new section and are its anchor, not its
/// text. A section larger than [`MAX_SPAN_LINES`] or [`MAX_SPAN_CHARS`] is cut at blank lines; a
/// paragraph that is too large by itself, between lines; a line that is too large by itself, after
/// a sentence or a word, and then several spans carry the same line number. A heading with nothing
/// below it gives a span of its own with an empty text, so that its words can be found.
///
/// Lines end with `\n` or `\r\n`. Setext headings of more than one line are read as text.
pub fn spans(body: &str) -> Vec<Span> {
    let lines: Vec<&str> = body
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .collect();
    let mut out = Vec::new();
    let mut section = Section::default();
    // (level, title) of the headings that are open, outermost first.
    let mut open: Vec<(u8, String)> = Vec::new();
    for (at, role) in roles(&lines).into_iter().enumerate() {
        match role {
            Role::Heading(level, title) => {
                let leaf = open.last().is_none_or(|(above, _)| level <= *above);
                section.finish(&open, leaf, &mut out);
                open.retain(|(above, _)| *above < level);
                open.push((level, title));
                section.heading_line = at + 1;
            }
            Role::Underline => {}
            Role::Text => section.lines.push((at + 1, lines[at])),
        }
    }
    section.finish(&open, true, &mut out);
    if out.is_empty() {
        out.push(Span {
            anchor: None,
            trail: Vec::new(),
            start_line: 1,
            end_line: 1,
            text: String::new(),
        });
    }
    out
}

enum Role {
    Heading(u8, String),
    /// The second line of a setext heading.
    Underline,
    Text,
}

/// What each line is, after CommonMark's rules for headings and fences.
fn roles(lines: &[&str]) -> Vec<Role> {
    let mut roles: Vec<Role> = Vec::with_capacity(lines.len());
    let mut fence: Option<(char, usize)> = None;
    // Whether the line before is a paragraph of one line: what a setext underline can turn into
    // a heading.
    let mut lone_paragraph = false;
    let mut in_paragraph = false;
    for (at, line) in lines.iter().enumerate() {
        if let Some((mark, length)) = fence {
            if closes_fence(line, mark, length) {
                fence = None;
            }
            roles.push(Role::Text);
            (lone_paragraph, in_paragraph) = (false, false);
            continue;
        }
        if let Some(opened) = opens_fence(line) {
            fence = Some(opened);
            roles.push(Role::Text);
            (lone_paragraph, in_paragraph) = (false, false);
        } else if let Some((level, title)) = atx(line) {
            roles.push(Role::Heading(level, title));
            (lone_paragraph, in_paragraph) = (false, false);
        } else if let Some(level) = setext(line).filter(|_| lone_paragraph) {
            if let Some(last) = roles.last_mut() {
                *last = Role::Heading(level, lines[at - 1].trim().to_owned());
            }
            roles.push(Role::Underline);
            (lone_paragraph, in_paragraph) = (false, false);
        } else {
            let text = is_paragraph(line, in_paragraph);
            lone_paragraph = text && !in_paragraph;
            // A list item or quote is followed by its own continuation, never by an underline.
            in_paragraph = !line.trim().is_empty();
            roles.push(Role::Text);
        }
    }
    roles
}

/// The line without up to three spaces of indentation; `None` if it is indented as code.
fn unindented(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len() <= 3 && !rest.starts_with('\t')).then_some(rest)
}

fn opens_fence(line: &str) -> Option<(char, usize)> {
    let rest = unindented(line)?;
    let mark = rest
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let info = rest.trim_start_matches(mark);
    let length = rest.len() - info.len();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

fn closes_fence(line: &str, mark: char, length: usize) -> bool {
    unindented(line).is_some_and(|rest| {
        let after = rest.trim_start_matches(mark);
        rest.len() - after.len() >= length && after.trim().is_empty()
    })
}

fn atx(line: &str) -> Option<(u8, String)> {
    let rest = unindented(line)?;
    let after = rest.trim_start_matches('#');
    let level = rest.len() - after.len();
    if !(1..=6).contains(&level) || !(after.is_empty() || after.starts_with([' ', '\t'])) {
        return None;
    }
    let title = after.trim();
    // Closing hashes count as marks only after a space: "C#" is a name.
    let open = title.trim_end_matches('#');
    let title = if open.is_empty() || open.ends_with([' ', '\t']) {
        open.trim_end()
    } else {
        title
    };
    Some((level as u8, title.to_owned()))
}

fn setext(line: &str) -> Option<u8> {
    let rest = unindented(line)?.trim_end();
    let all = |mark| !rest.is_empty() && rest.chars().all(|character| character == mark);
    match () {
        () if all('=') => Some(1),
        () if all('-') => Some(2),
        () => None,
    }
}

/// Whether the line is running text: no blank, list item, quote, rule or indented code.
fn is_paragraph(line: &str, in_paragraph: bool) -> bool {
    let Some(rest) = unindented(line) else {
        return in_paragraph;
    };
    let item = rest
        .strip_prefix(['-', '*', '+'])
        .or_else(|| {
            rest.trim_start_matches(|digit: char| digit.is_ascii_digit())
                .strip_prefix(['.', ')'])
                .filter(|_| rest.starts_with(|digit: char| digit.is_ascii_digit()))
        })
        .is_some_and(|after| after.is_empty() || after.starts_with([' ', '\t']));
    let marks: String = rest.split_whitespace().collect();
    let rule = marks.len() >= 3
        && ['-', '*', '_']
            .iter()
            .any(|mark| marks.chars().all(|character| character == *mark));
    !(rest.trim().is_empty() || item || rule || rest.starts_with('>'))
}

/// The lines between two headings.
#[derive(Default)]
struct Section<'a> {
    heading_line: usize,
    lines: Vec<(usize, &'a str)>,
}

impl Section<'_> {
    /// Emits the section's spans and empties it. `leaf`: nothing is nested below its heading.
    fn finish(&mut self, open: &[(u8, String)], leaf: bool, out: &mut Vec<Span>) {
        let mut trail: Vec<String> = open.iter().map(|(_, title)| title.clone()).collect();
        let anchor = trail.pop().filter(|anchor| !anchor.is_empty());
        trail.retain(|title| !title.is_empty());

        let lines = std::mem::take(&mut self.lines);
        let mut pack = Pack::default();
        for block in lines.split(|(_, line)| line.trim().is_empty()) {
            pack.add_block(block);
        }
        pack.close();
        if pack.done.is_empty() && leaf && anchor.is_some() {
            let line = self.heading_line;
            pack.done.push((line, line, String::new()));
        }
        out.extend(pack.done.into_iter().map(|(start, end, text)| Span {
            anchor: anchor.clone(),
            trail: trail.clone(),
            start_line: start as u32,
            end_line: end as u32,
            text,
        }));
    }
}

/// Lines gathered for the next span, and the spans done so far as `(start, end, text)`.
#[derive(Default)]
struct Pack {
    text: String,
    chars: usize,
    start: usize,
    end: usize,
    done: Vec<(usize, usize, String)>,
}

impl Pack {
    /// Adds a run of lines that are not blank, whole if it can be.
    fn add_block(&mut self, block: &[(usize, &str)]) {
        let (Some((first, _)), Some((last, _))) = (block.first(), block.last()) else {
            return;
        };
        let chars = block.iter().map(|(_, line)| line.chars().count() + 1).sum();
        if !self.fits(*first, *last, chars) {
            self.close();
        }
        let whole = last - first < MAX_SPAN_LINES && chars <= MAX_SPAN_CHARS;
        for (number, line) in block {
            let chars = line.chars().count() + 1;
            if !whole && !self.fits(*number, *number, chars) {
                self.close();
            }
            if chars <= MAX_SPAN_CHARS {
                self.push(*number, line, chars);
                continue;
            }
            for piece in pieces(line) {
                self.push(*number, piece, piece.chars().count() + 1);
                self.close();
            }
        }
    }

    /// Whether the lines from `first` to `last` still fit the span being gathered, with the blank
    /// lines before them.
    fn fits(&self, first: usize, last: usize, chars: usize) -> bool {
        self.text.is_empty()
            || (last - self.start < MAX_SPAN_LINES
                && self.chars + (first - self.end) + chars <= MAX_SPAN_CHARS)
    }

    fn push(&mut self, number: usize, line: &str, chars: usize) {
        if self.text.is_empty() {
            self.start = number;
        } else {
            for _ in self.end..number {
                self.text.push('\n');
            }
            self.chars += number - self.end;
        }
        self.text.push_str(line);
        self.chars += chars;
        self.end = number;
    }

    fn close(&mut self) {
        if !self.text.is_empty() {
            self.done
                .push((self.start, self.end, std::mem::take(&mut self.text)));
        }
        self.chars = 0;
    }
}

/// Cuts one long line into pieces below [`MAX_SPAN_CHARS`]: after the last sentence that fits, else
/// before the last word, else in the middle. Joined together the pieces are the line.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some((limit, _)) = rest.char_indices().nth(MAX_SPAN_CHARS - 1) {
        let head = &rest[..limit];
        // A cut in the first half would only make crumbs.
        let late = |at: &usize| *at > limit / 2;
        let sentence = [". ", "! ", "? ", "。"]
            .iter()
            .filter_map(|end| head.rfind(end).map(|at| at + end.len()))
            .max()
            .filter(late);
        let word = || head.rfind(' ').map(|at| at + 1).filter(late);
        let cut = sentence.or_else(word).unwrap_or(limit);
        pieces.push(&rest[..cut]);
        rest = &rest[cut..];
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}
