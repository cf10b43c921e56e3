//! The metadata mirror over any directory: what a platform must give it for its promises to hold.

use crate::Report;
use crate::report::expect_equal;
use bytes::Bytes;
use gantry_manifest::Packument;
use gantry_platform::{Clock, Directory, FileError, RandomAccessFile};
use gantry_store::mirror::{DocumentForm, Freshness, MirrorKey, MirrorReader, MirrorWrite, MirrorWriter, Validators};
use std::fmt::Debug;
use std::sync::Arc;

const SCOPE: &str = "https://registry.example/";

/// Packuments of a large project, about.
const MANY: u32 = 1500;

/// Checks a mirror in an empty directory; leaves it empty. `directory` is cloned for each opening.
pub async fn mirror_suite<D: MirrorDirectory>(directory: &D, clock: &impl Clock) -> Report {
    let mut report = Report::default();
    report.note("where nothing was kept nothing is found", nothing(directory).await);
    report.note("what is kept is there after reopening, byte for byte", keeps(directory).await);
    report.note("a later record of the same document counts", replaces(directory).await);
    report.note("what was just written is read back, and its body given up", lends(directory).await);
    report.note("a torn record is not there, and what follows it is kept", torn(directory).await);
    report.note("a changed byte of a body is noticed before anybody uses it", changed(directory).await);
    report.note("a file of another format makes way", foreign(directory).await);
    match many(directory, clock).await {
        Ok(milliseconds) => {
            report.note::<String>(&format!("{MANY} documents are found, opened in {milliseconds:.1} ms"), Ok(()));
        }
        Err(problem) => report.note(&format!("{MANY} documents are found"), Err(problem)),
    }
    report.note("what has been replaced is given back", compacts(directory).await);
    report.note("everything can be removed", removes(directory).await);
    report
}

type Outcome = Result<(), String>;

/// A directory that can hold a mirror.
pub trait MirrorDirectory: Directory<File: Debug + Send + Sync + 'static> + Clone {}

impl<D: Directory<File: Debug + Send + Sync + 'static> + Clone> MirrorDirectory for D {}

fn text(error: FileError) -> String {
    format!("{:?}: {error}", error.kind)
}

fn key(name: &str) -> MirrorKey {
    MirrorKey::packument(SCOPE, DocumentForm::Abbreviated, name)
}

fn body(name: &str, edition: u32, versions: u32) -> String {
    let version =
        |number| format!(r#""{number}.0.0":{{"name":"{name}","version":"{number}.0.0","bin":"e{edition}.js"}}"#);
    let versions: Vec<String> = (1..=versions).map(version).collect();
    format!(r#"{{"name":"{name}","versions":{{{}}}}}"#, versions.join(","))
}

fn document(name: &str, edition: u32, versions: u32) -> MirrorWrite {
    let packument = Packument::scan(Bytes::from(body(name, edition, versions))).expect("a packument");
    MirrorWrite::Document {
        key: key(name),
        packument: Arc::new(packument),
        freshness: Freshness { answered: edition.into(), lifetime: 5, must_revalidate: false },
        validators: Validators { etag: Some(format!("\"{edition}\"")), last_modified: None },
    }
}

async fn write<D: Directory + Clone>(directory: &D, writes: &[MirrorWrite]) -> Outcome {
    MirrorWriter::open(directory.clone()).await.map_err(text)?.write(writes).map(drop).map_err(text)
}

/// The edition kept of `name`, by the last of its versions; 0 where that is damaged.
async fn edition<D: MirrorDirectory>(directory: &D, name: &str) -> Result<Option<u32>, String> {
    let reader = MirrorReader::open(directory).await.map_err(text)?;
    let Some(kept) = reader.find(&key(name)) else { return Ok(None) };
    let last = kept.packument.versions().last().ok_or("no versions")?;
    let Some(manifest) = kept.packument.manifest(last) else {
        return if reader.take_damage() { Ok(Some(0)) } else { Err("a version is missing without a word".to_owned()) };
    };
    let edition = manifest.bin.first().and_then(|(_, file)| file.strip_prefix('e')?.strip_suffix(".js")?.parse().ok());
    expect_equal(&kept.validators.etag, &edition.map(|edition: u32| format!("\"{edition}\"")))?;
    Ok(edition)
}

/// The mirror's only file with this prefix.
async fn only<D: Directory>(directory: &D, prefix: &str) -> Result<D::File, String> {
    let names = directory.list().await.map_err(text)?;
    let found: Vec<&String> = names.iter().filter(|name| name.starts_with(prefix)).collect();
    match found[..] {
        [name] => directory.open(name).await.map_err(text),
        _ => Err(format!("{names:?} has not one {prefix}")),
    }
}

async fn nothing<D: MirrorDirectory>(directory: &D) -> Outcome {
    expect_equal(&edition(directory, "a").await?, &None)
}

async fn keeps<D: MirrorDirectory>(directory: &D) -> Outcome {
    write(directory, &[document("a", 1, 3), document("large", 1, 20_000)]).await?;
    for name in ["a", "large"] {
        expect_equal(&edition(directory, name).await?, &Some(1))?;
    }
    let reader = MirrorReader::open(directory).await.map_err(text)?;
    let kept = reader.find(&key("large")).ok_or("not there")?;
    expect_equal(&kept.has_body(body("large", 1, 20_000).as_bytes()), &true)
}

async fn replaces<D: MirrorDirectory>(directory: &D) -> Outcome {
    write(directory, &[document("a", 2, 4)]).await?;
    expect_equal(&edition(directory, "a").await?, &Some(2))
}

async fn lends<D: MirrorDirectory>(directory: &D) -> Outcome {
    let mut writer = MirrorWriter::open(directory.clone()).await.map_err(text)?;
    let reader = MirrorReader::open(directory).await.map_err(text)?;
    let packument = Packument::scan(Bytes::from(body("lent", 1, 5000))).expect("a packument").into_outlined();
    let packument = Arc::new(packument);
    let (freshness, validators) = (Freshness::default(), Validators::default());
    let writes = [MirrorWrite::Document { key: key("lent"), packument: packument.clone(), freshness, validators }];
    let written = writer.write(&writes).map_err(text)?;
    reader.lend(&writes, &written);
    expect_equal(&packument.body(), &None)?;
    let read = packument.versions().filter(|version| packument.manifest(version).is_some()).count();
    expect_equal(&(read, reader.take_damage()), &(5000, false))
}

async fn torn<D: MirrorDirectory>(directory: &D) -> Outcome {
    write(directory, &[document("torn", 1, 2)]).await?;
    let journal = only(directory, "metadata-journal-").await?;
    journal.truncate(journal.len().map_err(text)? - 1).map_err(text)?;
    drop(journal);
    expect_equal(&edition(directory, "torn").await?, &None)?;
    expect_equal(&edition(directory, "a").await?, &Some(2))?;
    write(directory, &[document("after", 1, 2)]).await?;
    expect_equal(&edition(directory, "after").await?, &Some(1))
}

async fn changed<D: MirrorDirectory>(directory: &D) -> Outcome {
    write(directory, &[document("changed", 1, 300)]).await?;
    let pack = only(directory, "metadata-pack-").await?;
    // The last version's value, just before the brackets that end the document.
    let at = pack.len().map_err(text)? - 8;
    let mut byte = [0];
    pack.read_exact_at(at, &mut byte).map_err(text)?;
    pack.write_all_at(at, &[byte[0] ^ 1]).map_err(text)?;
    drop(pack);
    expect_equal(&edition(directory, "changed").await?, &Some(0))
}

async fn foreign<D: MirrorDirectory>(directory: &D) -> Outcome {
    only(directory, "metadata-journal-").await?.write_all_at(8, &[0xff]).map_err(text)?;
    expect_equal(&edition(directory, "a").await?, &None)?;
    write(directory, &[document("a", 3, 1)]).await?;
    expect_equal(&edition(directory, "a").await?, &Some(3))?;
    expect_equal(&directory.list().await.map_err(text)?.len(), &2)
}

async fn many<D: MirrorDirectory>(directory: &D, clock: &impl Clock) -> Result<f64, String> {
    let writes: Vec<MirrorWrite> = (0..MANY).map(|number| document(&format!("p{number}"), 1, 40)).collect();
    write(directory, &writes).await?;
    let before = clock.monotonic_milliseconds();
    let reader = MirrorReader::open(directory).await.map_err(text)?;
    let elapsed = clock.monotonic_milliseconds() - before;
    for number in 0..MANY {
        let kept = reader.find(&key(&format!("p{number}"))).ok_or_else(|| format!("p{number} is not there"))?;
        expect_equal(&kept.packument.manifest("40.0.0").is_some(), &true)?;
    }
    Ok(elapsed)
}

async fn compacts<D: MirrorDirectory>(directory: &D) -> Outcome {
    let mut writer = MirrorWriter::open(directory.clone()).await.map_err(text)?;
    for edition in 4..8 {
        writer.write(&[document("large", edition, 90_000)]).map_err(text)?;
    }
    let before = only(directory, "metadata-pack-").await?.len().map_err(text)?;
    writer.compact().await.map_err(text)?;
    drop(writer);
    let after = only(directory, "metadata-pack-").await?.len().map_err(text)?;
    expect_equal(&(after < before / 2), &true)?;
    for (name, kept) in [("large", 7), ("a", 3), ("p7", 1)] {
        expect_equal(&edition(directory, name).await?, &Some(kept))?;
    }
    Ok(())
}

async fn removes<D: MirrorDirectory>(directory: &D) -> Outcome {
    MirrorWriter::destroy(directory).await.map_err(text)?;
    expect_equal(&directory.list().await.map_err(text)?, &Vec::new())
}
