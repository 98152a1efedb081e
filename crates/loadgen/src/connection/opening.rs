//! Opening a stream: TCP or Unix socket, then TLS.

use std::io::ErrorKind;

use super::{Connection, Context, Phase, Step};
use crate::clock;
use crate::record::FailureStage;
use crate::transport::{OpenError, Opening, Stream};

impl Connection {
    /// Opens a stream for the current request.
    pub fn connect(&mut self, context: &mut Context) -> Step {
        match Stream::open(&context.script.address, context.tls, context.registry, self.token) {
            Ok(stream) => {
                self.stream = Some(stream);
                self.phase = Phase::Connecting;
                match self.open(context) {
                    Step::Waiting if self.phase == Phase::Writing => self.write(context),
                    step => step,
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.phase = Phase::BacklogFull;
                Step::BacklogFull
            }
            Err(error) => {
                context.stats.refused(&error);
                self.fail(FailureStage::Connect, context)
            }
        }
    }

    /// Opens a stream before there is a request for it. Failing says nothing yet: the request will.
    pub fn open_ahead(&mut self, now_ns: u64, context: &mut Context) {
        if let Ok(stream) = Stream::open(&context.script.address, context.tls, context.registry, self.token) {
            self.stream = Some(stream);
            self.phase = Phase::Connecting;
            self.connect_ns = now_ns;
            self.opened_ahead = true;
            self.open(context);
        }
    }

    /// Goes on opening; the phase is Writing once that is done.
    pub(super) fn open(&mut self, context: &mut Context) -> Step {
        loop {
            let Some(stream) = &mut self.stream else {
                return Step::Waiting;
            };
            match stream.establish() {
                Ok(Opening::Pending) => return Step::Waiting,
                Ok(Opening::Connected) => self.connected(context),
                Ok(Opening::Ready) => {
                    if self.phase == Phase::Connecting {
                        self.connected(context);
                    } else {
                        let now_ns = clock::now_ns();
                        context.stats.tls_established(now_ns - self.connected_ns);
                        self.ready_ns = Some(now_ns);
                    }
                    self.phase = if std::mem::take(&mut self.opened_ahead) { Phase::Idle } else { Phase::Writing };
                    return Step::Waiting;
                }
                Err(OpenError::Connect(error)) => {
                    context.stats.refused(&error);
                    return self.fail(FailureStage::Connect, context);
                }
                Err(OpenError::Tls(_)) => return self.fail(FailureStage::Tls, context),
            }
        }
    }

    fn connected(&mut self, context: &mut Context) {
        self.connected_ns = clock::now_ns();
        context.stats.connected(self.connected_ns - self.connect_ns);
        context.stats.counters.reconnects += u64::from(std::mem::take(&mut self.closed_by_server));
        self.ready_ns = Some(self.connected_ns);
        self.answers = 0;
        self.phase = Phase::Handshaking;
    }
}
