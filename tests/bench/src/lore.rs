//! Seeded lore: as many entries as asked for, of the length that people write.

use crate::Seeded;

const WHO: [&str; 12] = [
    "The ferryman", "Abbess Ilse", "Captain Brask", "The tanners' guild", "Old Marrow",
    "The reeve of Low Mallow", "Sister Quince", "The lamplighter", "A grey-eyed child",
    "Osric, once a priest,", "The salt widow", "The last giant",
];
const WHAT: [&str; 12] = [
    "poisoned the wells below the mill", "owes forty marks to the lantern guild",
    "never saw the sea", "keeps an egg warm in the crypt", "lied about the seal on the letter",
    "promised a map of the undercroft", "is buried under the third arch of the bridge",
    "sings to the drowned bells", "refused the crown twice", "sold blighted rye to the garrison",
    "hides a brother's ring in the toll gate", "counts the dead by lantern light",
];
const WHEN: [&str; 8] = [
    "before the flood", "on the night without a moon", "while the king slept",
    "in the year of two winters", "at the third bell", "when the ferry came back empty",
    "after the fair at Harrow", "before anyone could ask",
];

/// A title and a text of about 400 characters; `number` makes the title unique.
pub fn entry(random: &mut Seeded, number: usize) -> (String, String) {
    let title = format!("{} {} ({number})", random.pick(&WHO), random.pick(&WHAT));
    let mut body = String::new();
    while body.len() < 400 {
        body.push_str(&format!(
            "{} {} {}. ",
            random.pick(&WHO),
            random.pick(&WHAT),
            random.pick(&WHEN)
        ));
    }
    (title, body)
}
