//! Root certificates for TLS connections.

use std::{io, path::PathBuf, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};
use tokio_rustls::TlsConnector;

/// Root certificates that a server's certificate is checked against.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Roots {
    /// The system's.
    #[default]
    System,
    /// Only those in this PEM file.
    File(PathBuf),
}

/// Why there are no root certificates.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootsError {
    /// The file cannot be read.
    #[error("certificates in {}: {why}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The system has no certificates.
    #[error("the system has no certificates to check the server's with{}", Why(.0))]
    NoSystemRoots(String),
    /// The cryptographic provider does not support the TLS versions.
    #[error("TLS cannot be used: {0}")]
    Unusable(#[source] rustls::Error),
}

struct Why<'a>(&'a str);

impl std::fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

impl Roots {
    /// Loads the certificates, so that a mistake is reported before the first dial.
    pub fn check(&self) -> Result<(), RootsError> {
        self.store().map(drop)
    }

    pub(crate) fn connector(&self) -> Result<TlsConnector, RootsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(RootsError::Unusable)?
            .with_root_certificates(self.store()?)
            .with_no_client_auth();
        Ok(TlsConnector::from(Arc::new(config)))
    }

    fn store(&self) -> Result<RootCertStore, RootsError> {
        let mut store = RootCertStore::empty();
        match self {
            Self::System => {
                let found = rustls_native_certs::load_native_certs();
                store.add_parsable_certificates(found.certs);
                if store.is_empty() {
                    let why = found.errors.first().map(ToString::to_string);
                    return Err(RootsError::NoSystemRoots(why.unwrap_or_default()));
                }
            }
            Self::File(path) => {
                let wrong = |why: String| RootsError::File { path: path.clone(), why };
                let pem =
                    std::fs::read(path).map_err(|error: io::Error| wrong(error.to_string()))?;
                for certificate in CertificateDer::pem_slice_iter(&pem) {
                    let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
                    store.add(certificate).map_err(|error| wrong(error.to_string()))?;
                }
                if store.is_empty() {
                    return Err(wrong("the file holds no certificates".to_owned()));
                }
            }
        }
        Ok(store)
    }
}
