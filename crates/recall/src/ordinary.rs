//! Ordinary English words, which are never taken for a misspelt name.

use std::{collections::HashSet, sync::LazyLock};

use crate::tokenise::stem;

/// Everyday words of five letters and more that lie close to other words. If a question says one of
/// them and no span holds it, it is not a slip for its neighbour (house is not horse, plague is not
/// plaque): meaning, not spelling, has to find what is asked for. Shorter words are never bent.
///
/// Written for this purpose, not taken from a list: leaving a word out only means that it may be
/// bent, as every name may.
#[rustfmt::skip]
const ORDINARY: &[&str] = &[
    "about", "above", "abroad", "accept", "across", "action", "actor", "adult", "affair", "afraid",
    "after", "again", "agent", "agree", "ahead", "alarm", "album", "alert", "alive", "alley",
    "allow", "almost", "alone", "along", "aloud", "alter", "always", "amaze", "amount", "ancient",
    "angel", "anger", "angle", "angry", "animal", "ankle", "annoy", "answer", "anyway", "apart",
    "apple", "apron", "argue", "arise", "armor", "around", "arrest", "arrive", "arrow", "aside",
    "asleep", "attack", "attempt", "attend", "autumn", "avoid", "await", "awake", "award", "aware",
    "awful", "badly", "baker", "balance", "bandit", "banner", "baron", "barrel", "basic", "basket",
    "battle", "beach", "beard", "beast", "beauty", "become", "before", "begin", "behave", "behind",
    "belief", "belong", "below", "bench", "beneath", "beside", "better", "beyond", "birth",
    "bishop", "bitter", "black", "blade", "blame", "bleed", "bless", "blind", "block", "blood",
    "bloom", "board", "boast", "border", "borrow", "bottle", "bottom", "brain", "branch", "brave",
    "bread", "break", "breath", "breed", "brick", "bride", "bridge", "brief", "bright", "bring",
    "broad", "broken", "brother", "brown", "bucket", "build", "burden", "business", "butcher",
    "butter", "button", "buyer", "cabin", "candle", "captain", "capture", "career", "careful",
    "cargo", "carry", "carve", "castle", "catch", "cattle", "caught", "cause", "cellar", "center",
    "central", "certain", "chain", "chair", "chance", "change", "chapel", "charge", "chase",
    "cheap", "cheat", "check", "cheer", "cheese", "chest", "chicken", "chief", "child", "choice",
    "choose", "church", "circle", "citizen", "civil", "claim", "class", "clean", "clear", "clerk",
    "clever", "cliff", "climb", "cloak", "clock", "close", "cloth", "cloud", "coach", "coast",
    "coffee", "collar", "collect", "color", "column", "comfort", "command", "common", "company",
    "complain", "complete", "condition", "confess", "consider", "contain", "control", "convince",
    "copper", "corner", "correct", "cotton", "council", "count", "country", "couple", "courage",
    "course", "court", "cousin", "cover", "crack", "craft", "crash", "crazy", "cream", "create",
    "credit", "creek", "crime", "crisis", "cross", "crowd", "crown", "cruel", "crush", "culture",
    "curious", "curse", "curtain", "custom", "cycle", "daily", "damage", "dance", "danger",
    "daughter", "death", "decay", "decide", "defeat", "defend", "degree", "delay", "deliver",
    "demand", "depart", "depend", "depth", "describe", "desert", "deserve", "desire", "destroy",
    "detail", "devil", "diary", "differ", "dinner", "direct", "dirty", "discover", "discuss",
    "disease", "distance", "divide", "doctor", "donkey", "double", "doubt", "dozen", "draft",
    "dragon", "drama", "dream", "dress", "drift", "drink", "drive", "drown", "drunk", "dusty",
    "dwell", "eager", "early", "earth", "effect", "effort", "eight", "either", "elder", "elect",
    "eleven", "empire", "employ", "empty", "enemy", "energy", "enjoy", "enough", "enter", "entire",
    "equal", "error", "escape", "evening", "event", "exact", "example", "except", "exchange",
    "excite", "excuse", "exist", "expect", "expert", "explain", "extra", "fable", "faint", "faith",
    "false", "family", "famous", "fancy", "farmer", "father", "fault", "favor", "feast", "feature",
    "female", "fence", "fever", "field", "fierce", "fight", "figure", "final", "finger", "finish",
    "first", "flame", "flash", "flesh", "float", "flood", "floor", "flour", "flower", "focus",
    "follow", "force", "foreign", "forest", "forever", "forget", "forgive", "fortune", "forward",
    "found", "frame", "fresh", "friend", "front", "frost", "fruit", "funny", "future", "gallery",
    "gamble", "garden", "gather", "gentle", "ghost", "giant", "glass", "glory", "glove", "govern",
    "grain", "grand", "grant", "grass", "grave", "great", "green", "greet", "grief", "ground",
    "group", "guard", "guess", "guest", "guide", "guild", "guilt", "habit", "hammer", "handle",
    "happy", "harbor", "harvest", "health", "heart", "heaven", "heavy", "height", "hello", "hidden",
    "history", "hobby", "honest", "honor", "horror", "horse", "hospital", "hotel", "house", "human",
    "humor", "hundred", "hunger", "hungry", "hurry", "husband", "image", "imagine", "important",
    "impress", "improve", "include", "income", "indeed", "infant", "inform", "injury", "inner",
    "innocent", "insect", "inside", "instead", "intend", "invite", "island", "issue", "jealous",
    "jewel", "joint", "journey", "judge", "juice", "justice", "kitchen", "kneel", "knife", "knight",
    "knock", "known", "labor", "ladder", "language", "lantern", "large", "later", "laugh", "launch",
    "layer", "leader", "learn", "least", "leather", "leave", "legal", "legend", "length", "lesson",
    "letter", "level", "liberty", "library", "light", "limit", "liquid", "listen", "little",
    "local", "lonely", "loose", "lovely", "lover", "lower", "loyal", "lucky", "lunch", "machine",
    "magic", "major", "manner", "march", "market", "marry", "master", "match", "matter", "maybe",
    "mayor", "medal", "medicine", "member", "memory", "mental", "mention", "merchant", "mercy",
    "merry", "message", "metal", "method", "middle", "midnight", "mighty", "minor", "minute",
    "mirror", "mistake", "modern", "moment", "money", "monster", "month", "moral", "morning",
    "mother", "motion", "mount", "mountain", "mouse", "mouth", "movie", "murder", "music", "mutual",
    "mystery", "naked", "narrow", "nation", "native", "nature", "naval", "needle", "neighbor",
    "neither", "nerve", "never", "night", "noble", "noise", "north", "notice", "novel", "number",
    "nurse", "object", "ocean", "offer", "office", "often", "older", "opinion", "oppose", "orange",
    "order", "organ", "origin", "other", "outer", "outside", "owner", "paint", "palace", "panic",
    "paper", "parade", "pardon", "parent", "partner", "party", "patient", "pattern", "pause",
    "peace", "pearl", "people", "pepper", "perfect", "perhaps", "period", "person", "phase",
    "phone", "photo", "phrase", "piano", "picture", "piece", "pilot", "pirate", "pitch", "place",
    "plague", "plain", "plane", "planet", "plant", "plate", "plead", "pleasant", "please",
    "pleasure", "plenty", "pocket", "point", "poison", "police", "polite", "popular", "porch",
    "position", "possible", "potato", "pound", "poverty", "powder", "power", "practice", "praise",
    "prayer", "prefer", "prepare", "present", "press", "pretend", "pretty", "prevent", "price",
    "pride", "priest", "prince", "print", "prison", "private", "prize", "problem", "produce",
    "profit", "promise", "proof", "proper", "protect", "proud", "prove", "provide", "public",
    "punish", "pupil", "purple", "purpose", "purse", "puzzle", "quality", "quarrel", "quarter",
    "queen", "quest", "question", "quick", "quiet", "quite", "rabbit", "raise", "random", "range",
    "rapid", "rather", "reach", "react", "ready", "reason", "rebel", "recall", "receive", "recent",
    "record", "recover", "reduce", "refuse", "regard", "region", "regret", "reject", "relate",
    "relax", "release", "relief", "religion", "remain", "remember", "remind", "remove", "repair",
    "repeat", "reply", "report", "rescue", "respect", "result", "return", "reveal", "revenge",
    "reward", "rifle", "right", "ritual", "rival", "river", "roast", "robber", "rocket", "rough",
    "round", "route", "royal", "rumor", "rural", "sacred", "sacrifice", "saddle", "saint", "scale",
    "scare", "scene", "school", "science", "score", "scout", "scream", "search", "season", "second",
    "secret", "seize", "select", "sense", "separate", "series", "serious", "servant", "serve",
    "settle", "seven", "several", "severe", "shade", "shadow", "shake", "shallow", "shame", "shape",
    "share", "sharp", "sheep", "sheet", "shelf", "shell", "shelter", "shield", "shift", "shine",
    "shirt", "shock", "shoot", "shore", "short", "should", "shoulder", "shout", "shower", "siege",
    "sight", "signal", "silence", "silent", "silly", "silver", "similar", "simple", "since",
    "single", "sister", "situate", "skill", "skirt", "slave", "sleep", "slice", "slide", "slight",
    "small", "smart", "smell", "smile", "smoke", "smooth", "snake", "social", "soldier", "solid",
    "solve", "sorry", "sound", "source", "south", "space", "speak", "special", "speech", "speed",
    "spell", "spend", "spider", "spirit", "spoil", "spoon", "sport", "spread", "spring", "square",
    "stable", "staff", "stage", "stair", "stake", "stand", "stare", "start", "state", "station",
    "statue", "status", "steal", "steam", "steel", "steep", "stern", "stick", "stiff", "still",
    "stomach", "stone", "stood", "store", "storm", "story", "stove", "straight", "strange",
    "stranger", "straw", "stream", "street", "strength", "stress", "stretch", "strict", "strike",
    "string", "strong", "student", "study", "stuff", "stupid", "style", "subject", "succeed",
    "success", "sudden", "suffer", "sugar", "suggest", "summer", "supper", "supply", "support",
    "suppose", "surface", "surprise", "survive", "suspect", "swamp", "swear", "sweat", "sweep",
    "sweet", "sword", "symbol", "system", "table", "talent", "taste", "tavern", "teach", "temper",
    "temple", "terrible", "thank", "theater", "theft", "theme", "theory", "thick", "thief", "thing",
    "think", "third", "thirst", "thirteen", "thirty", "thousand", "thread", "threat", "three",
    "throat", "throne", "through", "throw", "thumb", "thunder", "ticket", "tight", "timber",
    "tired", "title", "today", "together", "tomorrow", "tongue", "tonight", "tooth", "topic",
    "torch", "total", "touch", "tough", "toward", "tower", "trace", "track", "trade", "tradition",
    "trail", "train", "travel", "treasure", "treat", "treaty", "trial", "tribe", "trick", "troop",
    "trouble", "truck", "trust", "truth", "twelve", "twenty", "twice", "twist", "uncle", "under",
    "unite", "until", "upper", "upset", "useful", "usual", "valley", "value", "various", "verse",
    "vessel", "victim", "victory", "video", "village", "violent", "virtue", "visit", "voice",
    "volume", "voyage", "wagon", "wander", "waste", "watch", "water", "wealth", "weapon", "weather",
    "wedding", "weigh", "weight", "weird", "welcome", "whale", "wheat", "wheel", "where", "whether",
    "which", "while", "whisper", "white", "whole", "wicked", "widow", "window", "winner", "winter",
    "witch", "witness", "wizard", "woman", "wonder", "world", "worry", "worse", "worst", "worth",
    "would", "wound", "wreck", "wrist", "write", "wrong", "yellow", "yesterday", "yield", "young",
    "youth",
];

/// Whether a stem is that of an ordinary word, so that all its forms count.
pub(crate) fn is_ordinary(of: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> =
        LazyLock::new(|| ORDINARY.iter().map(|word| stem(word)).collect());
    STEMS.contains(of)
}

#[cfg(test)]
mod tests {
    use super::is_ordinary;
    use crate::tokenise::stem;

    #[test]
    fn every_form_of_an_ordinary_word_is_ordinary_and_names_are_not() {
        for word in ["horse", "horses", "villages", "poisoned", "promises"] {
            assert!(is_ordinary(&stem(word)), "{word}");
        }
        for name in ["aldus", "aldous", "mirela", "odile", "harowmere", "crosbow"] {
            assert!(!is_ordinary(&stem(name)), "{name}");
        }
    }
}
