//! `platform::Directory` and `platform::RandomAccessFile`

use crate::Report;
use crate::report::expect_equal;
use gantry_platform::{Directory, FileError, FileErrorKind, RandomAccessFile};

/// Checks an empty directory; leaves it empty. `exclusive` says whether a second open of the same file must be refused.
pub async fn directory_suite<D: Directory>(directory: &D, exclusive: Exclusive) -> Report {
    let mut report = Report::default();
    report.note("a new file is empty and is listed", new_file(directory).await);
    report.note("what is written is read back, at any offset", offsets(directory).await);
    report.note("a write beyond the end fills the gap with zeros", gap(directory).await);
    report.note("a read beyond the end says so", beyond(directory).await);
    report.note("truncating cuts and grows", truncating(directory).await);
    report.note("contents outlive the handle", reopening(directory).await);
    report.note("large writes are whole", large(directory).await);
    report.note("two files do not mix", two_files(directory).await);
    if exclusive == Exclusive::Yes {
        report.note("an open file cannot be opened again", locked(directory).await);
    }
    report.note("removing is final, and twice is no error", removing(directory).await);
    report
}

/// Whether an implementation keeps others out of an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exclusive {
    /// A second open is refused.
    Yes,
    /// Nobody else is there.
    NotNeeded,
}

type Outcome = Result<(), String>;

fn text(error: FileError) -> String {
    format!("{:?}: {error}", error.kind)
}

fn read(file: &impl RandomAccessFile, offset: u64, length: usize) -> Result<Vec<u8>, String> {
    let mut buffer = vec![0xaa; length];
    file.read_exact_at(offset, &mut buffer).map_err(text)?;
    Ok(buffer)
}

async fn new_file<D: Directory>(directory: &D) -> Outcome {
    let file = directory.open("new").await.map_err(text)?;
    expect_equal(&file.len().map_err(text)?, &0)?;
    expect_equal(&file.is_empty().map_err(text)?, &true)?;
    drop(file);
    expect_equal(&directory.list().await.map_err(text)?, &vec!["new".to_owned()])
}

async fn offsets<D: Directory>(directory: &D) -> Outcome {
    let file = directory.open("new").await.map_err(text)?;
    file.write_all_at(0, b"hello world").map_err(text)?;
    file.write_all_at(6, b"there").map_err(text)?;
    file.flush().map_err(text)?;
    expect_equal(&read(&file, 0, 11)?, &b"hello there".to_vec())?;
    expect_equal(&read(&file, 4, 3)?, &b"o t".to_vec())?;
    expect_equal(&read(&file, 11, 0)?, &Vec::new())
}

async fn gap<D: Directory>(directory: &D) -> Outcome {
    let file = directory.open("gap").await.map_err(text)?;
    file.write_all_at(5, b"x").map_err(text)?;
    expect_equal(&read(&file, 0, 6)?, &b"\0\0\0\0\0x".to_vec())
}

async fn beyond<D: Directory>(directory: &D) -> Outcome {
    let file = directory.open("new").await.map_err(text)?;
    let mut buffer = [0; 4];
    for offset in [8, 11, 1000] {
        match file.read_exact_at(offset, &mut buffer) {
            Ok(()) => return Err(format!("reading at {offset} succeeded")),
            Err(error) => expect_equal(&error.kind, &FileErrorKind::UnexpectedEnd)?,
        }
    }
    Ok(())
}

async fn truncating<D: Directory>(directory: &D) -> Outcome {
    let file = directory.open("cut").await.map_err(text)?;
    file.write_all_at(0, b"abcdef").map_err(text)?;
    file.truncate(2).map_err(text)?;
    expect_equal(&file.len().map_err(text)?, &2)?;
    file.truncate(4).map_err(text)?;
    expect_equal(&read(&file, 0, 4)?, &b"ab\0\0".to_vec())
}

async fn reopening<D: Directory>(directory: &D) -> Outcome {
    let file = directory.open("new").await.map_err(text)?;
    expect_equal(&file.len().map_err(text)?, &11)?;
    expect_equal(&read(&file, 0, 5)?, &b"hello".to_vec())
}

async fn large<D: Directory>(directory: &D) -> Outcome {
    let file = directory.open("large").await.map_err(text)?;
    let bytes: Vec<u8> = (0..3_000_000u32).map(|number| (number % 251) as u8).collect();
    file.write_all_at(1, &bytes).map_err(text)?;
    file.flush().map_err(text)?;
    expect_equal(&file.len().map_err(text)?, &3_000_001)?;
    expect_equal(&(read(&file, 1, bytes.len())? == bytes), &true)
}

async fn two_files<D: Directory>(directory: &D) -> Outcome {
    let one = directory.open("one").await.map_err(text)?;
    let two = directory.open("two").await.map_err(text)?;
    one.write_all_at(0, b"1").map_err(text)?;
    two.write_all_at(0, b"2").map_err(text)?;
    expect_equal(&(read(&one, 0, 1)?, read(&two, 0, 1)?), &(b"1".to_vec(), b"2".to_vec()))
}

async fn locked<D: Directory>(directory: &D) -> Outcome {
    let first = directory.open("one").await.map_err(text)?;
    let second = directory.open("one").await.map(drop).map_err(|error| error.kind);
    expect_equal(&second, &Err(FileErrorKind::Locked))?;
    drop(first);
    directory.open("one").await.map(drop).map_err(text)
}

async fn removing<D: Directory>(directory: &D) -> Outcome {
    for name in directory.list().await.map_err(text)? {
        directory.remove(&name).await.map_err(text)?;
        directory.remove(&name).await.map_err(text)?;
    }
    expect_equal(&directory.list().await.map_err(text)?, &Vec::new())?;
    let file = directory.open("new").await.map_err(text)?;
    expect_equal(&file.len().map_err(text)?, &0)?;
    drop(file);
    directory.remove("new").await.map_err(text)
}
