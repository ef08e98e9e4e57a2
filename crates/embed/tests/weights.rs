//! A weights file is used only if every byte of it is what the packer wrote.

mod common;

use common::{hex, weights};
use lore_embed::{MODEL_ID, Model, PACKED_BYTES, PACKED_SHA256, WeightsError};
use sha2::{Digest, Sha256};

/// Byte 64 begins the checksum, 96 the payload.
const CHECKSUM: std::ops::Range<usize> = 64..96;

fn refused(file: Vec<u8>) -> WeightsError {
    Model::from_vec(file).expect_err("the file must be refused")
}

/// Makes the checksum fit whatever the file now says.
fn resealed(mut file: Vec<u8>) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(&file[..CHECKSUM.start]);
    hash.update(&file[CHECKSUM.end..]);
    let sum = hash.finalize();
    file[CHECKSUM].copy_from_slice(&sum);
    file
}

#[test]
fn the_packed_file_is_the_pinned_one() {
    let file = weights();
    let hash = hex(&Sha256::digest(&file));
    assert_eq!((hash.as_str(), file.len()), (PACKED_SHA256, PACKED_BYTES));
    assert_eq!(Model::from_vec(file).expect("sound").id(), MODEL_ID);
}

#[test]
fn a_file_cut_anywhere_is_torn() {
    let file = weights();
    for length in [8, 40, 95, 96, 97, 1_000, file.len() / 2, file.len() - 1] {
        let error = refused(file[..length].to_vec());
        assert!(
            matches!(error, WeightsError::Torn { found, .. } if found == length as u64),
            "{length}: {error}"
        );
    }
    let mut longer = file;
    longer.push(0);
    assert!(matches!(refused(longer), WeightsError::Torn { .. }));
}

#[test]
fn a_flipped_bit_anywhere_is_noticed() {
    let file = weights();
    // In: dimensions, checksum, floats, matrices, vocabulary.
    for at in [
        16,
        64,
        95,
        96,
        200_000,
        5_000_000,
        20_000_000,
        file.len() - 2,
    ] {
        let mut damaged = file.clone();
        damaged[at] ^= 0x10;
        let error = refused(damaged);
        let expected = if at < 64 {
            matches!(error, WeightsError::OtherShape { .. })
        } else {
            error == WeightsError::Damaged
        };
        assert!(expected, "{at}: {error}");
    }
}

#[test]
fn another_kind_of_file_is_foreign() {
    for bytes in [&b""[..], b"\x00asm", b"SQLite format 3\0", &[0xff; 4096]] {
        let error = refused(bytes.to_vec());
        let empty = bytes.is_empty() && matches!(error, WeightsError::Torn { .. });
        assert!(empty || error == WeightsError::Foreign, "{error}");
    }
}

#[test]
fn a_later_format_says_so() {
    let mut file = weights();
    file[8] = 2;
    assert_eq!(refused(resealed(file)), WeightsError::Newer { found: 2 });
}

#[test]
fn a_sound_checksum_does_not_excuse_senseless_content() {
    let file = weights();
    let mut infinite = file.clone();
    infinite[96..100].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert!(matches!(
        refused(resealed(infinite)),
        WeightsError::Malformed(_)
    ));

    let vocabulary = file.len() - 231_508;
    for (at, byte) in [
        (vocabulary, 0xff),
        (vocabulary, b'\n'),
        (file.len() - 1, b'x'),
    ] {
        let mut other = file.clone();
        other[at] = byte;
        assert!(
            matches!(refused(resealed(other)), WeightsError::Malformed(_)),
            "{at}"
        );
    }

    let mut huge = file;
    huge[56..64].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(
        refused(resealed(huge)),
        WeightsError::Malformed(_)
    ));
}
