//! stub
use crate::{
    Limits,
    hub::Hub,
    outbox::Outbox,
    store::{CampaignKey, Store},
};
use bytes::Bytes;
use tokio::sync::mpsc;
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ConnectionId(pub(crate) u64);
pub(crate) enum Input {
    Connected {
        connection: ConnectionId,
        outbox: Outbox,
    },
    Frame {
        connection: ConnectionId,
        frame: Bytes,
    },
    Disconnected {
        connection: ConnectionId,
    },
    Stop,
}
pub(crate) async fn run(
    _c: CampaignKey,
    _s: Store,
    _l: Limits,
    _i: mpsc::Receiver<Input>,
    _h: &Hub,
) {
}
