//! Running other programs, with errors that name the command and what to do.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// A command to run, remembered as text for error messages.
#[derive(Debug)]
pub struct Cmd {
    inner: Command,
    shown: String,
}

impl Cmd {
    /// A command that runs `program`.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let shown = program.as_ref().to_string_lossy().into_owned();
        Self {
            inner: Command::new(program),
            shown,
        }
    }

    /// The cargo that runs this task, without the variables that `cargo run` set for it.
    pub fn cargo() -> Self {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let cmd = Self {
            inner: Command::new(program),
            shown: "cargo".to_owned(),
        };
        cmd.without("CARGO_MANIFEST_DIR").without("LD_LIBRARY_PATH")
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.shown.push(' ');
        self.shown.push_str(&arg.as_ref().to_string_lossy());
        self.inner.arg(arg);
        self
    }

    /// Adds several arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(self, args: impl IntoIterator<Item = S>) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        self.inner.env(key, value);
        self
    }

    /// Takes a variable out of its environment.
    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        self.inner.env_remove(key);
        self
    }

    /// Runs it in this folder.
    #[must_use]
    pub fn dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.inner.current_dir(dir);
        self
    }

    /// The command as `std` knows it, for a caller that keeps the process.
    pub fn into_inner(self) -> Command {
        self.inner
    }

    /// Runs it with this terminal and fails unless it succeeds.
    pub fn run(mut self) -> Result<()> {
        let status = self.status()?;
        if !status.success() {
            bail!("`{}` ended with {status}", self.shown);
        }
        Ok(())
    }

    /// Like [`Cmd::run`], with what it prints moved to standard error, for a task whose own
    /// standard output is read by a program.
    pub fn to_stderr(mut self) -> Result<()> {
        self.inner.stdout(std::io::stderr());
        self.run()
    }

    /// Runs it with this terminal and returns whether it succeeded.
    pub fn succeeds(mut self) -> Result<bool> {
        Ok(self.status()?.success())
    }

    fn status(&mut self) -> Result<ExitStatus> {
        self.inner
            .stdin(Stdio::null())
            .status()
            .with_context(|| format!("cannot start `{}`", self.shown))
    }

    /// Runs it silently; what it printed is part of the error when it fails.
    pub fn quiet(self) -> Result<()> {
        self.output().map(drop)
    }

    /// Runs it silently and returns what it printed on standard output.
    pub fn output(mut self) -> Result<String> {
        let output = self
            .inner
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start `{}`", self.shown))?;
        check(&self.shown, &output)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs it with its standard output passed on line by line and handed to `line`; returns
    /// whether it succeeded.
    pub fn watch(mut self, mut line: impl FnMut(&str)) -> Result<bool> {
        let mut child = self
            .inner
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{}`", self.shown))?;
        let output = child
            .stdout
            .take()
            .context("the child has a standard output")?;
        for text in BufReader::new(output).split(b'\n') {
            let text = text?;
            let text = String::from_utf8_lossy(&text);
            println!("{text}");
            line(&text);
        }
        Ok(child.wait()?.success())
    }

    /// Like [`Cmd::quiet`], ended when it takes longer than `limit`.
    pub fn quiet_within(mut self, limit: Duration) -> Result<()> {
        let mut child = self
            .inner
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start `{}`", self.shown))?;
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                if status.success() {
                    return Ok(());
                }
                bail!("`{}` ended with {status}", self.shown);
            }
            if begun.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                bail!("`{}` took longer than {} s", self.shown, limit.as_secs());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn check(shown: &str, output: &Output) -> Result<()> {
    if output.status.success() {
        return Ok(());
    }
    bail!(
        "`{shown}` ended with {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// The first program of this name on `PATH`.
pub fn which(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
