//! Certificates, from npm's settings: of servers to trust, and for them.

use gantry_engine::Fault;
use gantry_manifest::Config;
use gantry_native::{ClientCertificate, check_certificates};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Those that are trusted beside the system's (`cafile`, `ca`), as PEM.
pub fn trusted_certificates(
    config: &Config,
    warnings: &mut Vec<(&'static str, String)>,
) -> Result<Vec<Vec<u8>>, Fault> {
    let mut certificates: Vec<Vec<u8>> = Vec::new();
    let mut trust = |name: &str, pem: Vec<u8>| {
        check_certificates(&pem).map_err(|error| Fault::of_setting(format!("{name}: {error}")))?;
        certificates.push(pem);
        Ok::<_, Fault>(())
    };
    if let Some(path) = config.get("cafile").filter(|path| !path.is_empty() && *path != "null") {
        match std::fs::read(path) {
            Ok(pem) => trust(&format!("cafile {path}"), pem)?,
            // npm passes over a file that is not there.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                warnings.push(("CONFIG_INVALID", format!("cafile {path} is not there: it is left out")));
            }
            Err(error) => return Err(Fault::of_setting(format!("cafile {path}: {error}"))),
        }
    }
    for certificate in config.get_list("ca") {
        if !certificate.is_empty() && certificate != "null" {
            trust("ca", certificate.replace("\\n", "\n").into_bytes())?;
        }
    }
    Ok(certificates)
}

/// The file that node, and with it npm, trusts the certificates of. It is read once a server shows a certificate; one that is
/// not there is a warning, as of node.
pub fn extra_certificates(
    environment: &BTreeMap<String, String>,
    warnings: &mut Vec<(&'static str, String)>,
) -> Option<PathBuf> {
    let path = environment.get("NODE_EXTRA_CA_CERTS").filter(|path| !path.is_empty())?;
    if let Err(error) = std::fs::metadata(path) {
        warnings.push(("CONFIG_INVALID", format!("NODE_EXTRA_CA_CERTS {path}: {error}: it is left out")));
        return None;
    }
    Some(Path::new(path).to_owned())
}

/// Whether the environment says where the system's certificates are, as to OpenSSL.
pub fn chooses_system_certificates(environment: &BTreeMap<String, String>) -> bool {
    ["SSL_CERT_FILE", "SSL_CERT_DIR"].iter().any(|name| environment.get(*name).is_some_and(|path| !path.is_empty()))
}

/// What can be shown to registries that want to know who asks. A file that is not there is a warning, since npm passes over
/// it, and most settings are for many projects; the registry then says what it lacks.
pub fn client_certificates(
    config: &Config,
    warnings: &mut Vec<(&'static str, String)>,
) -> Result<BTreeMap<String, ClientCertificate>, Fault> {
    let mut found = BTreeMap::new();
    for (place, certificate, key_file) in config.certificates() {
        let mut read = |name: &str, path: &str| match std::fs::read(path) {
            Ok(pem) => Ok(Some(pem)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                warnings.push(("CONFIG_INVALID", format!("{place}:{name} {path} is not there: it is left out")));
                Ok(None)
            }
            Err(error) => Err(Fault::of_setting(format!("{place}:{name} {path}: {error}"))),
        };
        if let (Some(pem), Some(key)) = (read("certfile", &certificate)?, read("keyfile", &key_file)?) {
            let parsed = ClientCertificate::from_pem(&pem, &key);
            let parsed = parsed.map_err(|error| {
                Fault::of_setting(format!("{place}: certfile {certificate}, keyfile {key_file}: {error}"))
            })?;
            found.insert(place, parsed);
        }
    }
    if config.get_text("cert").is_some() != config.get_text("key").is_some() {
        return Err(
            Fault::of_setting("cert and key: one is of no use without the other").with_hint("Set both, or none.")
        );
    }
    if let Some((certificate, key)) = config.certificate_without_address() {
        let parsed = ClientCertificate::from_pem(certificate.as_bytes(), key.as_bytes());
        found.insert(String::new(), parsed.map_err(|error| Fault::of_setting(format!("cert: {error}")))?);
    }
    Ok(found)
}
