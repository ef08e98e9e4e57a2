//! `lore`: see `lore --help`.

fn main() -> std::process::ExitCode {
    lore_peer::main()
}
