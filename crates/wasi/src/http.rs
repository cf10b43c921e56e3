//! The network that preview 1 of WASI does not have.

use gantry_platform::{Http, HttpError, HttpErrorKind, HttpRequest, HttpResponse};

/// Answers nothing. The registry client is told that it is offline and does not get here.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NoNetwork;

impl Http for NoNetwork {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let message = "WASI has no network".to_owned();
        Err(HttpError { kind: HttpErrorKind::Connect, url: request.url, message, has_answered: false })
    }
}
