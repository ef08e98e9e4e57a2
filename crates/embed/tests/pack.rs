//! The packer takes the published files and no others.

use lore_embed::pack::{PackError, SAFETENSORS_SHA256, pack};

#[test]
fn other_inputs_are_named_and_refused() {
    let error = pack(b"not the model", b"not the vocabulary").expect_err("refused");
    assert!(
        matches!(
            &error,
            PackError::OtherInput { what: "model.safetensors", expected, .. }
                if *expected == SAFETENSORS_SHA256
        ),
        "{error}"
    );
}
