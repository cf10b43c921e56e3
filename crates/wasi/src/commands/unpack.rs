//! `gantry.wasm unpack`: one tarball into a new folder, as an install would unpack it.

use super::print_result;
use crate::WasiError;
use crate::options::Options;
use gantry_archive::{Extractor, Integrity};
use gantry_engine::Fault;
use gantry_store::{PreparedPackage, prepare};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// Unpacks `tarball` into `folder`, which must not be there: all of it or nothing. With an integrity the tarball must match
/// it; without, the archive's own checksum is compared.
pub(super) fn run(options: &Options, tarball: &Path, folder: &Path, integrity: Option<&str>) -> Result<(), Fault> {
    let name = tarball.display().to_string();
    let integrity = integrity.map(Integrity::parse).transpose().map_err(|error| Fault::from(&error))?;
    if fs::symlink_metadata(folder).is_ok() {
        return Err(WasiError::Exists { path: folder.to_owned() }.into());
    }
    let body = fs::read(tarball).map_err(WasiError::io("read", tarball))?;
    let mut extractor = Extractor::default();
    let entries = match &integrity {
        Some(integrity) => {
            integrity.verify(&name, &body).map_err(|error| Fault::from(&error))?;
            extractor.extract(&name, &body)
        }
        None => extractor.extract_unverified(&name, &body),
    };
    let package = prepare(entries.map_err(|error| Fault::from(&error))?);
    write(&package, folder)?;
    let files = &package.index.files;
    let executables: Vec<&str> = files.iter().filter(|file| file.executable).map(|file| file.path.as_str()).collect();
    let bytes = package.index.segment_length();
    let object = json!({
        "files": files.len(),
        "bytes": bytes,
        "integrity": Integrity::sha512_of(&body).to_string(),
        "executables": executables,
    });
    print_result(options, object, &format!("{} files, {bytes} bytes in {}", files.len(), folder.display()));
    Ok(())
}

fn write(package: &PreparedPackage<'_>, folder: &Path) -> Result<(), WasiError> {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(".gantry-new");
    let building = folder.with_file_name(name);
    let written = write_files(package, &building)
        .and_then(|()| fs::rename(&building, folder).map_err(WasiError::io("publish", folder)));
    if written.is_err() {
        let _ = fs::remove_dir_all(&building);
    }
    written
}

fn write_files(package: &PreparedPackage<'_>, building: &Path) -> Result<(), WasiError> {
    if fs::symlink_metadata(building).is_ok() {
        fs::remove_dir_all(building).map_err(WasiError::io("remove", building))?;
    }
    let mut made = PathBuf::new();
    for (file, contents) in package.index.files.iter().zip(&package.contents) {
        let path = building.join(&file.path);
        let parent = path.parent().unwrap_or(building);
        if made != parent {
            fs::create_dir_all(parent).map_err(WasiError::io("create", parent))?;
            parent.clone_into(&mut made);
        }
        fs::write(&path, contents).map_err(WasiError::io("write", &path))?;
    }
    Ok(())
}
