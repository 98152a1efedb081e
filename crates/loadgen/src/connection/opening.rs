//! Opening a stream: TCP or Unix socket, then TLS.

use std::io::ErrorKind;

use super::{Connection, Ground, Phase, Step};
use crate::clock;
use crate::record::Stage;
use crate::transport::{OpenError, Opening, Stream};

impl Connection {
    /// Opens a stream for the current request.
    pub fn connect(&mut self, ground: &mut Ground) -> Step {
        match Stream::open(&ground.script.address, ground.tls, ground.registry, self.token) {
            Ok(stream) => {
                self.stream = Some(stream);
                self.phase = Phase::Connecting;
                match self.open(ground) {
                    Step::Waiting if self.phase == Phase::Writing => self.write(ground),
                    step => step,
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.phase = Phase::Crowded;
                Step::Crowded
            }
            Err(error) => {
                ground.wire.refused(&error);
                self.fail(Stage::Connect, ground)
            }
        }
    }

    /// Opens a stream before there is a request for it. Failing says nothing yet: the request will.
    pub fn open_ahead(&mut self, now_ns: u64, ground: &mut Ground) {
        if let Ok(stream) = Stream::open(&ground.script.address, ground.tls, ground.registry, self.token) {
            self.stream = Some(stream);
            self.phase = Phase::Connecting;
            self.connect_ns = now_ns;
            self.ahead = true;
            self.open(ground);
        }
    }

    /// Goes on opening; the phase is Writing once that is done.
    pub(super) fn open(&mut self, ground: &mut Ground) -> Step {
        loop {
            let Some(stream) = &mut self.stream else {
                return Step::Waiting;
            };
            match stream.establish() {
                Ok(Opening::Pending) => return Step::Waiting,
                Ok(Opening::Connected) => self.connected(ground),
                Ok(Opening::Ready) => {
                    if self.phase == Phase::Connecting {
                        self.connected(ground);
                    } else {
                        let now_ns = clock::now_ns();
                        ground.wire.secured(now_ns - self.connected_ns);
                        self.ready_ns = Some(now_ns);
                    }
                    self.phase = if std::mem::take(&mut self.ahead) { Phase::Idle } else { Phase::Writing };
                    return Step::Waiting;
                }
                Err(OpenError::Connect(error)) => {
                    ground.wire.refused(&error);
                    return self.fail(Stage::Connect, ground);
                }
                Err(OpenError::Tls(_)) => return self.fail(Stage::Tls, ground),
            }
        }
    }

    fn connected(&mut self, ground: &mut Ground) {
        self.connected_ns = clock::now_ns();
        ground.wire.connected(self.connected_ns - self.connect_ns);
        ground.wire.counters.reconnects += u64::from(std::mem::take(&mut self.lost));
        self.ready_ns = Some(self.connected_ns);
        self.carried = 0;
        self.phase = Phase::Securing;
    }
}
