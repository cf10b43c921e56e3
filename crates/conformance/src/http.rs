//! `platform::Http`, against the replay registry's fixtures `basic`

use crate::Report;
use crate::report::expect_equal;
use gantry_manifest::Packument;
use gantry_platform::{Http, HttpError, HttpErrorKind, HttpRequest, HttpResponse};

/// Checks a client against a server of the fixtures `basic` at `base`, which ends with a slash.
pub async fn http_suite(http: &impl Http, base: &str) -> Report {
    let mut report = Report::default();
    let client = Client { http, base };
    report.note("a document comes whole, with its headers in lower case", client.document().await);
    report.note("a large document comes whole", client.large_document().await);
    report.note("a tarball comes byte for byte", client.tarball().await);
    report.note("a status is no error", client.status().await);
    for (what, path, expected) in [
        ("a server that hangs before its headers", "hang", &[HttpErrorKind::Timeout][..]),
        ("a server that hangs in the body", "hang-tarball/-/hang-tarball-1.0.0.tgz", &[HttpErrorKind::Timeout]),
        (
            "a connection that breaks in the body",
            "reset-tarball/-/reset-tarball-1.0.0.tgz",
            // A browser says only that fetching failed.
            &[HttpErrorKind::Interrupted, HttpErrorKind::Connect],
        ),
        ("redirects without end", "redirect-loop", &[HttpErrorKind::Redirect, HttpErrorKind::Connect]),
        (
            "a body whose encoding is damaged",
            "garbled-packument",
            &[HttpErrorKind::Encoding, HttpErrorKind::Interrupted, HttpErrorKind::Connect],
        ),
    ] {
        report.note(
            &format!("{what}: an error of the right kind that names the address"),
            client.fails(path, expected).await,
        );
    }
    report.note("whether an answer had begun is told", client.beginnings().await);
    report.note("a body beyond the limit is given up", client.too_large().await);
    report.note("nobody there: a connection error", client.nobody().await);
    report.note("an address that is none is refused", client.no_address().await);
    report
}

struct Client<'a, H> {
    http: &'a H,
    base: &'a str,
}

impl<H: Http> Client<'_, H> {
    fn request(&self, path: &str) -> HttpRequest {
        HttpRequest {
            url: format!("{}{path}", self.base),
            headers: vec![("accept".to_owned(), "application/json".to_owned())],
            timeout_milliseconds: 700,
            max_body_bytes: 10 << 20,
            certificate: None,
        }
    }

    async fn get(&self, path: &str) -> Result<HttpResponse, HttpError> {
        self.http.send(self.request(path)).await
    }

    async fn document(&self) -> Result<(), String> {
        let response = self.get("left").await.map_err(|error| error.to_string())?;
        expect_equal(&response.status, &200)?;
        let kind = response.header("content-type").unwrap_or_default().to_owned();
        expect_equal(&kind.starts_with("application/json"), &true)?;
        expect_equal(&response.body.starts_with(b"{"), &true)?;
        expect_equal(&response.body.ends_with(b"}"), &true)
    }

    /// One that no client reads at once.
    async fn large_document(&self) -> Result<(), String> {
        let response = self.get("big-packument").await.map_err(|error| error.to_string())?;
        expect_equal(&(response.body.len() > 4_000_000), &true)?;
        let packument = Packument::scan(response.body).map_err(|error| error.to_string())?;
        let whole = packument.versions().filter(|version| packument.manifest(version).is_some());
        expect_equal(&whole.count(), &61)
    }

    async fn tarball(&self) -> Result<(), String> {
        let response = self.get("left/-/left-1.1.0.tgz").await.map_err(|error| error.to_string())?;
        expect_equal(&response.body.starts_with(&[0x1f, 0x8b]), &true)?;
        let length = response.header("content-length").and_then(|text| text.parse::<usize>().ok());
        expect_equal(&length, &Some(response.body.len()))
    }

    async fn status(&self) -> Result<(), String> {
        let response = self.get("never-published").await.map_err(|error| error.to_string())?;
        expect_equal(&response.status, &404)
    }

    async fn fails(&self, path: &str, expected: &[HttpErrorKind]) -> Result<(), String> {
        match self.get(path).await {
            Ok(response) => Err(format!("status {} and {} bytes", response.status, response.body.len())),
            Err(error) if !expected.contains(&error.kind) => Err(format!("{:?}: {error}", error.kind)),
            Err(error) if !error.url.ends_with(path) => Err(format!("it names {}", error.url)),
            Err(_) => Ok(()),
        }
    }

    async fn beginnings(&self) -> Result<(), String> {
        for (path, expected) in [("hang", false), ("hang-tarball/-/hang-tarball-1.0.0.tgz", true)] {
            let error = self.get(path).await.err().ok_or("it answers")?;
            expect_equal(&error.has_answered, &expected)?;
        }
        Ok(())
    }

    async fn too_large(&self) -> Result<(), String> {
        for (path, max_body_bytes) in [("left", 100), ("big-packument", 100), ("big-packument", 3_000_000)] {
            match self.http.send(HttpRequest { max_body_bytes, ..self.request(path) }).await {
                Ok(response) => return Err(format!("{} bytes came", response.body.len())),
                Err(error) => expect_equal(&error.kind, &HttpErrorKind::TooLarge)?,
            }
        }
        Ok(())
    }

    async fn nobody(&self) -> Result<(), String> {
        // Nothing listens there, and browsers refuse such ports by themselves: either way there is no connection.
        let request = HttpRequest { url: "http://127.0.0.1:19/left".to_owned(), ..self.request("") };
        match self.http.send(request).await {
            Ok(response) => Err(format!("status {}", response.status)),
            Err(error) => expect_equal(&error.kind, &HttpErrorKind::Connect),
        }
    }

    async fn no_address(&self) -> Result<(), String> {
        let request = HttpRequest { url: "http://".to_owned(), ..self.request("") };
        match self.http.send(request).await {
            Ok(response) => Err(format!("status {}", response.status)),
            Err(error) if matches!(error.kind, HttpErrorKind::InvalidUrl | HttpErrorKind::Connect) => Ok(()),
            Err(error) => Err(format!("{:?}: {error}", error.kind)),
        }
    }
}
