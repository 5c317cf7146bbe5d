import type { Dispatcher } from 'undici';
import { clampTimer } from '../policy/clamp-timer.js';
import { readClientError } from './client-error.js';
import { acceptEncoding } from './decode-body.js';
import { faultOf, tooLarge } from './fault-of.js';
import { announcesMore, createReplyBody, defaultMaxReplyBytes, flatHeaders } from './reply-body.js';
import { TransportError } from './transport-error.js';
import type { FaultPhase } from './transport-error.js';
import type { WireReply, WireRequest } from './transport.js';
import { ConnectTimeout } from './undici-connect.js';

/** A body that fits into the buffers on the way needs no time of its own to be sent. */
const smallBody = 65_536;

/** The connections that a request goes over. */
export interface Line {
  readonly agent: Dispatcher;
  readonly neverConnected: (error: unknown) => boolean;
}

export interface Receiver {
  reply(reply: WireReply): void;
  fault(error: TransportError): void;
}

/** One exchange: calls one of the receiver's two, once, or neither when it is abandoned. */
export function createExchange(request: WireRequest, line: Line, to: Receiver) {
  const maxBytes = request.maxReplyBytes ?? defaultMaxReplyBytes;
  const body = createReplyBody(maxBytes);
  const limits = createLimits(request, (phase) => fail(undefined, phase));
  let head: { status: number; headers: Parameters<typeof flatHeaders>[0] } | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  let over = false;

  function end(): boolean {
    if (over) return false;
    over = true;
    limits.clear();
    return true;
  }

  function abandon(): void {
    if (end()) controller?.abort(new Error('abandoned'));
  }

  function fail(error: unknown, timedOut?: FaultPhase): void {
    if (!end()) return;
    controller?.abort(new Error('ended'));
    to.fault(faultFrom(error, { request, line, timedOut, responded: head !== undefined }));
  }

  async function finish(status: number, headers: Record<string, string>): Promise<void> {
    const text = body.text(headers['content-encoding']);
    const reply = { status, headers, body: typeof text === 'string' ? text : await text };
    // When the replies at hand have all been read: what follows one of them, often the next request, does not get between.
    if (end()) setImmediate(() => to.reply(reply));
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      // A request that undici would send a second time is ended instead: the first may have been taken.
      if (over || controller) started.abort(new Error('ended'));
      else limits.sending();
      controller ??= started;
    },
    onResponseStart(_controller, status, headers) {
      if (status < 200) return;
      head = { status, headers };
      limits.reading();
      if (announcesMore(headers, maxBytes)) fail(tooLarge(request, maxBytes));
    },
    onResponseData(_controller, chunk) {
      if (!body.add(chunk)) fail(tooLarge(request, maxBytes));
    },
    onResponseEnd() {
      if (head) finish(head.status, flatHeaders(head.headers)).catch(fail);
    },
    onResponseError: (_controller, error) => fail(error),
  };

  function send(): void {
    try {
      line.agent.dispatch(dispatchOptions(request), handler);
    } catch (error) {
      fail(error);
    }
  }
  return { send, abandon };
}

function faultFrom(error: unknown, { request, line, timedOut, responded }: FaultContext): TransportError {
  if (error instanceof TransportError) return error;
  return faultOf(request, {
    ...readClientError(error),
    timedOut: error instanceof ConnectTimeout ? error.phase : timedOut,
    neverConnected: line.neverConnected(error),
    responded,
  });
}

interface FaultContext {
  readonly request: WireRequest;
  readonly line: Line;
  readonly timedOut: FaultPhase | undefined;
  readonly responded: boolean;
}

function dispatchOptions({ method, url, headers, body }: WireRequest): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(url);
  return {
    origin,
    path: pathname + search,
    method,
    headers: { 'accept-encoding': acceptEncoding, ...headers },
    ...(body !== undefined && { body }),
  };
}

/** The limits after the connection: one for the phase, one for the whole. */
function createLimits({ timeouts, body = '' }: WireRequest, passed: (phase: FaultPhase) => void) {
  let phase: FaultPhase = 'response';
  let timer: NodeJS.Timeout | undefined;
  const limit = (name: FaultPhase, ms: number): void => {
    clearTimeout(timer);
    phase = name;
    timer = setTimeout(() => passed(name), clampTimer(ms));
  };
  const whole = setTimeout(() => passed(phase), clampTimer(timeouts.requestMs));
  return {
    sending: () => limit('response', timeouts.responseMs + (body.length > smallBody ? timeouts.sendMs : 0)),
    reading: () => limit('read', timeouts.readMs),
    clear() {
      clearTimeout(timer);
      clearTimeout(whole);
    },
  };
}
