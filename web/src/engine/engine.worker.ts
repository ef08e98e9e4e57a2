/**
 * The engine worker of one tab. One worker of the origin owns the codex, elected by a Web Lock;
 * the others pass their tab's calls to it. When the owner's tab ends, another takes over and
 * outstanding calls are sent again under their old names.
 */

import type { EngineError, EngineEvent, Status } from './api';
import {
  CHANNEL,
  OWNER_LOCK,
  type AnswerMessage,
  type Between,
  type CallMessage,
  type FromWorker,
  type StartMessage,
  type ToWorker,
} from './messages';
import { Owner } from './owner';

const self_ = crypto.randomUUID();
const channel = new BroadcastChannel(CHANNEL);
const scope = self as unknown as { postMessage(message: FromWorker): void; close(): void };

let owner: Owner | null = null;
/** Set once the codex could not be opened: every call answers with it. */
let failure: EngineError | null = null;
/** Calls of this tab without an answer. */
const outstanding = new Map<number, CallMessage>();
let ownerKnown = false;

function toTab(message: FromWorker): void {
  scope.postMessage(message);
}

function between(message: Between): void {
  channel.postMessage(message);
}

function answerTab(answer: AnswerMessage): void {
  outstanding.delete(answer.id);
  toTab(answer);
}

function emit(event: EngineEvent): void {
  toTab({ type: 'event', event });
  between({ type: 'event', event: asOther(event) });
}

/** A status as a tab that does not own the codex shows it. */
function asOther(event: EngineEvent): EngineEvent {
  return event.type === 'status'
    ? { type: 'status', status: { ...event.status, owner: false } }
    : event;
}

/** The engine cannot go on: let another worker, or a new one of this tab, take over. */
function fatal(error: unknown): void {
  toTab({ type: 'fatal', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  scope.close();
}

async function perform(call: CallMessage): Promise<AnswerMessage> {
  if (failure) {
    if (call.method === 'status') return { type: 'answer', id: call.id, result: failed(failure) };
    return { type: 'answer', id: call.id, error: failure };
  }
  if (!owner) {
    return { type: 'answer', id: call.id, error: { code: 'not-owner', message: 'not the owner' } };
  }
  const said = await owner.call(call);
  return said.type === 'error'
    ? { type: 'answer', id: call.id, error: said.error }
    : { type: 'answer', id: call.id, result: said.result };
}

function failed(error: EngineError): Status {
  return {
    storage: 'opening',
    storageNote: null,
    owner: true,
    device: '',
    name: '',
    network: { state: 'solo', transport: null, note: null, waiting: 0 },
    embedding: { state: 'unavailable', done: 0, total: 0, note: null },
    error: error.message,
  };
}

function dispatch(call: CallMessage): void {
  if (owner || failure) void perform(call).then(answerTab);
  else if (ownerKnown) between({ type: 'call', from: self_, call });
  // Else the call waits: it is sent once there is an owner.
}

channel.onmessage = ({ data }: MessageEvent<Between>) => {
  switch (data.type) {
    case 'who':
      if (owner) between({ type: 'owner', owner: self_ });
      break;
    case 'owner':
      if (owner) break;
      ownerKnown = true;
      for (const call of outstanding.values()) between({ type: 'call', from: self_, call });
      break;
    case 'call': {
      if (!owner) break;
      const { from } = data;
      void perform(data.call).then((answer) => {
        if (data.call.method === 'status' && answer.result) {
          answer.result = { ...(answer.result as Status), owner: false };
        }
        between({ type: 'answer', to: from, answer });
      });
      break;
    }
    case 'answer':
      if (data.to === self_ && outstanding.has(data.answer.id)) answerTab(data.answer);
      break;
    case 'event':
      if (!owner) toTab({ type: 'event', event: data.event });
      break;
  }
};

async function campaign(start: StartMessage): Promise<void> {
  between({ type: 'who' });
  await navigator.locks.request(OWNER_LOCK, async () => {
    try {
      owner = await Owner.open(start, emit, fatal);
    } catch (error) {
      failure =
        typeof error === 'string'
          ? (JSON.parse(error) as EngineError)
          : { code: 'open', message: error instanceof Error ? error.message : String(error) };
      console.error('the codex could not be opened:', failure.message);
    }
    ownerKnown = true;
    between({ type: 'owner', owner: self_ });
    for (const call of outstanding.values()) void perform(call).then(answerTab);
    // The lock is held until this worker ends, and then goes to the next in line.
    await new Promise<never>(() => undefined);
  });
}

let online = true;
self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  switch (data.type) {
    case 'start':
      online = data.online;
      void campaign(data).catch(fatal);
      break;
    case 'online':
      if (online !== data.online) {
        online = data.online;
        owner?.setOnline(online);
      }
      break;
    case 'call':
      outstanding.set(data.id, data);
      dispatch(data);
      break;
  }
};
