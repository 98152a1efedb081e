//! A plan made ready for the hot path: request bytes rendered, expectations at hand.

use crate::check::Expectation;
use crate::error::PlanError;
use crate::plan::Plan;
use crate::transport::{Address, TlsConnector};

#[derive(Debug)]
pub(crate) struct Script {
    pub address: Address,
    pub tls: Option<TlsConnector>,
    pub keep_alive: bool,
    pub lines: Vec<Line>,
}

/// One target.
#[derive(Debug)]
pub(crate) struct Line {
    pub bytes: Vec<u8>,
    pub to_head: bool,
    pub idempotent: bool,
    pub expectation: Expectation,
}

impl Script {
    pub fn new(plan: &Plan) -> Result<Script, PlanError> {
        let lines = plan.targets.iter().map(|target| Line {
            bytes: target.request.render(plan.keep_alive),
            to_head: target.request.is_head(),
            idempotent: target.request.is_idempotent(),
            expectation: target.expectation.clone(),
        });
        Ok(Script {
            address: plan.address.clone(),
            tls: plan.tls.as_ref().map(TlsConnector::new).transpose()?,
            keep_alive: plan.keep_alive,
            lines: lines.collect(),
        })
    }
}
