//! `gantry-registry`: serves a recording or fixtures on the loopback interface, or records what projects need.
//!
//! When the server is ready it prints one line of JSON on stdout: its address as `url` and, with TLS, the certificate to
//! trust as `certificate` (PEM). It ends with the process, or with `--until-stdin-closes` when whoever started it goes
//! away. Everything said to people goes to stderr.
#![expect(clippy::disallowed_methods, reason = "a native tool of its own, never built for wasm")]

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use gantry_testkit::fixtures::Registry;
use gantry_testkit::record::{RecordOptions, Refresh, Summary, record, verify};
use gantry_testkit::{ClientCertificates, Recording, ServerOptions, Source, TestkitError, default_recording_folder};

#[derive(Debug, Parser)]
#[command(version, about = "A replay registry with fault injection", args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Record what the projects in a folder need, through npm.
    Record(Record),
}

#[derive(Debug, Args)]
struct Serve {
    /// Folder of the recording [default: $GANTRY_RECORDING, else gantry/recording in the cache folder, unless --fixtures is given].
    #[arg(long, value_name = "FOLDER")]
    recording: Option<PathBuf>,
    /// Built-in set of fixtures to serve, in front of a recording if both are given.
    #[arg(long, value_name = "NAME")]
    fixtures: Option<String>,
    /// Port; 0 takes any free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Address to write into documents instead of the server's own.
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Fetch what is missing from this registry and keep it in the recording.
    #[arg(long, value_name = "URL")]
    record: Option<String>,
    /// Milliseconds to wait before every answer.
    #[arg(long, value_name = "MS")]
    latency: Option<u64>,
    /// Bits a second that one connection may send.
    #[arg(long, value_name = "BITS_PER_SECOND")]
    bandwidth: Option<u64>,
    /// Answer 401 to requests without this bearer token.
    #[arg(long, value_name = "TOKEN")]
    require_token: Option<String>,
    /// Speak TLS, offering HTTP/2 and HTTP/1.1, with a certificate made at the start.
    #[arg(long)]
    tls: bool,
    /// Write the certificate to trust here, as PEM (for `cafile` of .npmrc).
    #[arg(long, value_name = "FILE", requires = "tls")]
    certificate: Option<PathBuf>,
    /// Take only clients that show a certificate, and write one here with its key: client.pem and client-key.pem.
    #[arg(long, value_name = "FOLDER", requires = "tls")]
    require_client_certificate: Option<PathBuf>,
    /// End when standard input closes.
    #[arg(long)]
    until_stdin_closes: bool,
}

#[derive(Debug, Args)]
struct Record {
    /// Folder whose sub-folders hold a package.json each.
    #[arg(long, value_name = "FOLDER")]
    projects: PathBuf,
    /// Folder of the recording [default: as for serving].
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    /// Record although nothing changed.
    #[arg(long)]
    refresh: bool,
    /// Then install every project from the recording alone, and fail if anything is missing.
    #[arg(long)]
    verify: bool,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Some(Command::Record(options)) => run_record(options),
        None => run_server(cli.serve),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error[{}]: {error}", error.code());
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            eprintln!("  because: {cause}");
            source = cause.source();
        }
        if let Some(hint) = error.hint() {
            eprintln!("  hint: {hint}");
        }
        ExitCode::FAILURE
    })
}

fn run_server(serve: Serve) -> Result<ExitCode, TestkitError> {
    let folder = match (serve.recording, &serve.fixtures) {
        (None, Some(_)) if serve.record.is_none() => None,
        (given, _) => Some(given.unwrap_or_else(default_recording_folder)),
    };
    let fixtures = serve.fixtures.as_deref().map_or_else(|| Ok(Registry::new()), Registry::named)?;
    let source = match folder {
        Some(folder) => Source::new(fixtures, Recording::new(folder)),
        None => Source::from(fixtures),
    };
    let mut options = ServerOptions::new(source).with_port(serve.port);
    if let Some(url) = serve.public_url {
        options = options.with_public_url(&url);
    }
    if let Some(url) = serve.record {
        options = options.with_record_from(&url);
    }
    if let Some(milliseconds) = serve.latency {
        options = options.with_latency(Duration::from_millis(milliseconds));
    }
    if let Some(rate) = serve.bandwidth {
        options = options.with_bandwidth(rate);
    }
    if let Some(token) = serve.require_token {
        options = options.with_token(&token);
    }
    if serve.tls {
        options = options.with_tls();
    }
    if serve.require_client_certificate.is_some() {
        options = options.with_client_certificates(ClientCertificates::Required);
    }
    let server = options.start()?;
    let mut line = serde_json::json!({"url": server.url()});
    let write = |path: PathBuf, text: &str| {
        std::fs::write(&path, text).map_err(|source| TestkitError::File { action: "write", path, source })
    };
    if let Some(certificate) = server.certificate() {
        line["certificate"] = certificate.into();
        if let Some(path) = serve.certificate {
            write(path, certificate)?;
        }
    }
    if let (Some(folder), Some(client)) = (serve.require_client_certificate, server.client()) {
        write(folder.join("client.pem"), &client.certificate)?;
        write(folder.join("client-key.pem"), &client.key)?;
    }
    println!("{line}");
    if serve.until_stdin_closes {
        let mut ignored = [0; 1024];
        while matches!(std::io::stdin().read(&mut ignored), Ok(1..)) {}
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        std::thread::park();
    }
}

fn run_record(options: Record) -> Result<ExitCode, TestkitError> {
    let say = |line: &str| eprintln!("{line}");
    let refresh = if options.refresh { Refresh::Always } else { Refresh::IfChanged };
    let into = options.into.unwrap_or_else(default_recording_folder);
    let wanted = RecordOptions { projects: options.projects, into, refresh };
    let summary = record(&wanted, &say)?;
    print_summary(&summary, &wanted.into);
    if !options.verify {
        return Ok(ExitCode::SUCCESS);
    }
    let missing = verify(&wanted, &say)?;
    for path in &missing {
        eprintln!("missing: {path}");
    }
    Ok(if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print_summary(summary: &Summary, folder: &std::path::Path) {
    let Summary { packuments, tarballs, bytes, mentioned_only, .. } = summary;
    eprintln!("{packuments} packuments, {tarballs} tarballs, {bytes} bytes in {}", folder.display());
    if !mentioned_only.is_empty() {
        eprintln!("mentioned but never asked for by npm: {}", mentioned_only.join(" "));
    }
    let mut line = serde_json::json!(summary);
    line["folder"] = serde_json::json!(folder);
    println!("{line}");
}
