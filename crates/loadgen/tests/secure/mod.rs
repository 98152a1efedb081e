//! Certificates made for one test, servers that speak TLS with them, and plans that load those servers.

use std::net::TcpStream;
use std::sync::Arc;

use loadgen::*;
use rcgen::{BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::ServerConfig;
use rustls::{ServerConnection, StreamOwned, SupportedProtocolVersion};

pub use crate::server::play;
use crate::server::{read_request, Received, Server};

pub const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
pub const BOTH: [&SupportedProtocolVersion; 2] = [&rustls::version::TLS12, &rustls::version::TLS13];

/// The server's end of a connection, handshake included: it is done at the first read or write.
pub type Secure = StreamOwned<ServerConnection, TcpStream>;

pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new() -> Authority {
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn pem(&self) -> Vec<u8> {
        self.0.pem().into_bytes()
    }

    /// What a server needs to go by these names.
    pub fn config(&self, names: &[&str], versions: &[&'static SupportedProtocolVersion]) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &self.0).unwrap();
        config(&certificate, &key, versions)
    }

    /// Speaks either version as localhost.
    pub fn server(&self, serve: impl Fn(Secure, &Received) + Send + Sync + 'static) -> Server {
        start(self.config(&["localhost"], &BOTH), serve)
    }

    /// Trusts this authority.
    pub fn tls(&self, name: &str) -> Tls {
        Tls { name: name.into(), authorities: Some(self.pem()), versions: vec![TlsVersion::V1_2, TlsVersion::V1_3] }
    }
}

pub fn config(
    certificate: &Certificate,
    key: &KeyPair,
    versions: &[&'static SupportedProtocolVersion],
) -> ServerConfig {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_protocol_versions(versions).unwrap().with_no_client_auth();
    let mut config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

pub fn start(config: ServerConfig, serve: impl Fn(Secure, &Received) + Send + Sync + 'static) -> Server {
    let config = Arc::new(config);
    Server::start(move |stream, _, received| serve(secure(&config, stream), received))
}

pub fn secure(config: &Arc<ServerConfig>, stream: TcpStream) -> Secure {
    StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream)
}

/// The next request without body, counted; `None` once the client has closed or the handshake has failed.
pub fn next_request(stream: &mut Secure, received: &Received) -> Option<String> {
    let request = read_request(stream)?;
    received.requests.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    Some(request)
}

pub fn plan(server: &Server, tls: Option<Tls>, requests: u64) -> Plan {
    let expectation = Expectation { status: Some(200), body: BodyRule::Exact(Arc::from(&b"hello"[..])) };
    let targets = vec![Target::new(Request::get("/", "test"), expectation)];
    let plan = Plan::closed(Address::Tcp(server.address), targets, 4, Stop::Requests(requests));
    Plan { tls, timeout_ns: 20 * SECOND_NS, ..plan }
}

pub fn all_ok(requests: u64) -> Counts {
    Counts { scheduled: requests, ok: requests, ..Counts::default() }
}

pub fn all_failed(stage: FailureStage, requests: u64) -> Counts {
    let mut counts = Counts { scheduled: requests, ..Counts::default() };
    counts.failed[stage as usize] = requests;
    counts
}
