//! The pack store over any directory: what a platform must give it for its promises to hold.

use crate::Report;
use crate::report::expect_equal;
use gantry_archive::{Extractor, Limits};
use gantry_platform::Directory;
use gantry_store::{JournalRecord, PackStore, PackWriter, PackageKey, StoreError, prepare};

/// Checks a pack store in an empty directory; leaves it empty. `directory` is cloned for each opening.
pub async fn pack_store_suite<D: Directory + Clone>(directory: &D) -> Report {
    let mut report = Report::default();
    report.note("a package that is committed is there after reopening, byte for byte", keeps(directory).await);
    report.note("a package that is not committed is not", forgets(directory).await);
    report.note("a whole package verifies", verifies(directory).await);
    report.note("everything can be removed", clears(directory).await);
    report
}

type Outcome = Result<(), String>;

fn text(error: StoreError) -> String {
    format!("{}: {error}", error.code())
}

fn key(name: &str) -> PackageKey {
    PackageKey::from_address(&format!("https://registry.example/{name}"))
}

/// A small tarball with two files.
fn tarball(marker: &str) -> Vec<u8> {
    let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (path, contents) in [("package/package.json", "{}".to_owned()), ("package/lib/marker.txt", marker.repeat(1000))]
    {
        let mut header = tar::Header::new_ustar();
        header.set_size(contents.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append_data(&mut header, path, contents.as_bytes()).expect("writing to memory does not fail");
    }
    builder.into_inner().and_then(flate2::write::GzEncoder::finish).expect("writing to memory does not fail")
}

async fn append<D: Directory + Clone>(directory: &D, name: &str, commit: bool) -> Outcome {
    let mut store = PackStore::open(directory.clone()).await.map_err(text)?;
    let assignment = store.packs_for_writers(1).remove(0);
    let file = directory.open(&assignment.name).await.map_err(|error| error.to_string())?;
    let mut writer = PackWriter::open(file, assignment.pack, assignment.start).map_err(text)?;
    let mut extractor = Extractor::new(Limits::default());
    let bytes = tarball(name);
    let prepared = prepare(extractor.extract(name, &bytes).map_err(|error| error.to_string())?);
    let place = writer.append(&prepared).map_err(text)?;
    writer.settle().map_err(text)?;
    writer.flush().map_err(text)?;
    if commit {
        let index = prepared.index.encode().into();
        store.commit(vec![JournalRecord::Package { key: key(name), place, index }]).map_err(text)?;
    }
    Ok(())
}

async fn keeps<D: Directory + Clone>(directory: &D) -> Outcome {
    append(directory, "kept", true).await?;
    append(directory, "second", true).await?;
    let mut store = PackStore::open(directory.clone()).await.map_err(text)?;
    for name in ["kept", "second"] {
        let index = store.lookup(&key(name)).ok_or("not there")?.index().map_err(text)?;
        let file = index.file("lib/marker.txt").ok_or("no such file")?.clone();
        let bytes = store.read(&key(name), file.offset, file.size).await.map_err(text)?;
        expect_equal(&(bytes == name.repeat(1000).into_bytes()), &true)?;
    }
    Ok(())
}

async fn forgets<D: Directory + Clone>(directory: &D) -> Outcome {
    append(directory, "lost", false).await?;
    let store = PackStore::open(directory.clone()).await.map_err(text)?;
    expect_equal(&store.lookup(&key("lost")).is_none(), &true)?;
    expect_equal(&store.lookup(&key("kept")).is_some(), &true)
}

async fn verifies<D: Directory + Clone>(directory: &D) -> Outcome {
    let mut store = PackStore::open(directory.clone()).await.map_err(text)?;
    store.verify_package(&key("kept")).await.map_err(text)?;
    store.verify_package(&key("second")).await.map_err(text)
}

async fn clears<D: Directory + Clone>(directory: &D) -> Outcome {
    let store = PackStore::open(directory.clone()).await.map_err(text)?;
    let store = store.clear().await.map_err(text)?;
    expect_equal(&store.usage().packages, &0)?;
    drop(store);
    PackStore::destroy(directory).await.map_err(text)?;
    expect_equal(&directory.list().await.map_err(|error| error.to_string())?, &Vec::new())
}
