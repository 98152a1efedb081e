//! What TLS is told beforehand: the server's name, whom to trust, which versions to speak.

use std::io;
use std::sync::Arc;

use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{ring, CryptoProvider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, RootCertStore, SupportedProtocolVersion};

use super::trust::{AnyCertificate, Listed};
use crate::error::PlanError;

/// What is needed to speak TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// The server's name: sent to it (server name indication) and looked for in its certificate. It may be an IP
    /// address, without brackets; that is looked for only, never sent (RFC 6066 section 3).
    pub name: String,
    /// The certificates to trust, as PEM: authorities, or the server's own. `None` accepts any certificate.
    pub authorities: Option<Vec<u8>>,
    /// The versions to offer.
    pub versions: Vec<TlsVersion>,
}

/// A version of TLS. Older ones are not spoken: RFC 8996 forbids them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2, RFC 5246.
    V1_2,
    /// TLS 1.3, RFC 8446.
    V1_3,
}

impl TlsVersion {
    fn supported(self) -> &'static SupportedProtocolVersion {
        match self {
            TlsVersion::V1_2 => &TLS12,
            TlsVersion::V1_3 => &TLS13,
        }
    }
}

/// Begins TLS sessions; made once per run and shared by all threads.
///
/// Every handshake is a full one, without resumption: each connection of a load test stands for a new visitor, and
/// resumed handshakes would make connections look cheaper than they are.
#[derive(Debug, Clone)]
pub(crate) struct TlsConnector(Arc<ClientConfig>, ServerName<'static>);

impl TlsConnector {
    /// # Errors
    /// A name that is none, certificates that cannot be read, or no version.
    pub fn new(tls: &Tls) -> Result<TlsConnector, PlanError> {
        let name = ServerName::try_from(tls.name.clone()).map_err(|_| PlanError::TlsName(tls.name.clone()))?;
        let versions: Vec<_> = tls.versions.iter().map(|version| version.supported()).collect();
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider.clone());
        let config = config.with_protocol_versions(&versions).map_err(|_| PlanError::TlsVersion)?.dangerous();
        let config = match &tls.authorities {
            None => config.with_custom_certificate_verifier(Arc::new(AnyCertificate::new(&provider))),
            Some(pem) => config.with_custom_certificate_verifier(Arc::new(listed(pem, provider)?)),
        };
        let mut config = config.with_no_client_auth();
        config.resumption = Resumption::disabled();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsConnector(Arc::new(config), name))
    }

    /// A session whose first message waits to be sent.
    pub fn session(&self) -> io::Result<ClientConnection> {
        let TlsConnector(config, name) = self;
        ClientConnection::new(config.clone(), name.clone()).map_err(io::Error::other)
    }
}

/// Trust in the certificates of `pem` and nothing else.
fn listed(pem: &[u8], provider: Arc<CryptoProvider>) -> Result<Listed, PlanError> {
    let wrong = |reason: String| PlanError::TlsAuthorities { reason };
    let read = |(index, certificate): (usize, Result<_, _>)| {
        certificate.map_err(|error| wrong(format!("certificate {}: {error}", index + 1)))
    };
    let certificates = CertificateDer::pem_slice_iter(pem).enumerate().map(read);
    let certificates = certificates.collect::<Result<Vec<CertificateDer<'static>>, _>>()?;
    let mut roots = RootCertStore::empty();
    for (index, certificate) in certificates.iter().enumerate() {
        let added = roots.add(certificate.clone());
        added.map_err(|error| wrong(format!("certificate {}: {error}", index + 1)))?;
    }
    let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    let chain = chain.map_err(|_| wrong("there is no certificate in them".into()))?;
    Ok(Listed { chain, certificates })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tls(name: &str, authorities: Option<&[u8]>) -> Tls {
        let authorities = authorities.map(<[u8]>::to_vec);
        Tls { name: name.into(), authorities, versions: vec![TlsVersion::V1_2, TlsVersion::V1_3] }
    }

    fn refusal(tls: &Tls) -> String {
        TlsConnector::new(tls).unwrap_err().to_string()
    }

    #[test]
    fn a_name_may_be_an_address() {
        for name in ["localhost", "example.org", "a_b.example.org.", "127.0.0.1", "::1"] {
            assert!(TlsConnector::new(&tls(name, None)).is_ok(), "{name}");
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let long = "a".repeat(64);
        for name in ["", " ", "localhost:443", "[::1]", "a..b", "-", "*.example.org", "a\0b", "ä.example", &long] {
            let text = refusal(&tls(name, None));
            assert!(text.contains(&format!("{name:?}")) && text.contains("without port"), "{text}");
        }
    }

    #[test]
    fn certificates_that_cannot_be_read_are_refused_and_named() {
        let good = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap().cert.pem();
        assert!(TlsConnector::new(&tls("localhost", Some(good.as_bytes()))).is_ok());
        let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
        for none in ["", "\0\u{1}", "localhost", &key] {
            assert!(refusal(&tls("localhost", Some(none.as_bytes()))).contains("no certificate"), "{none:?}");
        }
        let empty = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n";
        let rubbish = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let no_base64 = "-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----\n";
        let cut = &good[..good.len() / 2];
        for bad in [empty, rubbish, no_base64, cut] {
            let text = refusal(&tls("localhost", Some(format!("{good}{bad}").as_bytes())));
            assert!(text.contains("certificate 2: ") && text.contains("BEGIN CERTIFICATE"), "{text}");
        }
    }

    #[test]
    fn some_version_must_be_allowed() {
        assert!(refusal(&Tls { versions: Vec::new(), ..tls("localhost", None) }).contains("1.2, 1.3"));
    }
}
