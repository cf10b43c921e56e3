//! A program and those that it has started, which end together.
//!
//! Git leaves talking to other programs of its own, and these outlive one that is killed. A group of processes would hold them
//! together, but one that is not in the terminal's foreground may not ask there for the passphrase of a key.

use crate::programs::{descendants, kill_all};
use std::io;
use std::process::Output;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

/// Runs a program to its end and gives what it has printed. Dropped before that it ends the program with all that descend from it.
pub(super) async fn output(mut command: Command) -> io::Result<Output> {
    let mut child = command.kill_on_drop(true).spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut running = Running { descendants: Descendants(child.id()), child };
    let (stdout, stderr, status) = tokio::join!(all_of(stdout), all_of(stderr), running.child.wait());
    running.descendants.0 = None;
    Ok(Output { status: status?, stdout: stdout?, stderr: stderr? })
}

async fn all_of(stream: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

/// In the order in which they are to end: nobody can tell any more who descends from a program that has ended.
struct Running {
    descendants: Descendants,
    child: Child,
}

/// Those of the process with this number, as long as it runs.
struct Descendants(Option<u32>);

impl Drop for Descendants {
    fn drop(&mut self) {
        kill_all(&self.0.map(descendants).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Stdio;
    use std::time::Duration;

    #[tokio::test]
    async fn what_is_given_up_ends_with_all_that_it_has_started() {
        let mut command = Command::new("sh");
        // Two below another, and one that waits for them.
        command.args(["-c", "(sleep 60 & sleep 60); true"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let own = std::process::id();
        let running = output(command);
        let started = async {
            loop {
                let found = descendants(own);
                if found.len() >= 3 {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let found = tokio::select! {
            ended = running => panic!("it ended by itself: {ended:?}"),
            found = started => found,
        };
        let lives = |process: &u32| {
            let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            !status.is_empty() && !status.contains(") Z ")
        };
        for _ in 0..500 {
            if !found.iter().any(lives) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("some of {found:?} still run");
    }

    #[tokio::test]
    async fn what_it_prints_and_how_it_ends_is_told() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let Output { status, stdout, stderr } = output(command).await.unwrap();
        assert_eq!((status.code(), &*stdout, &*stderr), (Some(3), &b"out\n"[..], &b"err\n"[..]));
    }
}
