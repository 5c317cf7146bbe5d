import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Bytes arrived before the request left: nothing of it has been sent. */
export class EarlyBytes extends Error {
  constructor() {
    super('bytes arrived on the connection before the request left');
  }
}

/** The head of a reply arrived before the request was written: the service cannot have read the request. */
export class EarlyReply extends Error {
  constructor() {
    super('the reply arrived before the whole request was written');
  }
}

/** Whether a reply came before the request, except an early refusal, such as of a body that is too large. */
export function precedesRequest(status: number | undefined, socket: Duplex | null | undefined): boolean {
  return (status ?? 0) < 300 && (socket?.writableLength ?? 0) > 0;
}

/**
 * Watches the bytes of one connection, and closes it if bytes arrive while no request is in flight. Node's own agent would drop
 * them, or read them as the next reply.
 */
export class ReplyBytes {
  private request: ClientRequest | undefined;
  private response: IncomingMessage | undefined;
  private received = 0;
  private headBytes: number | undefined;
  /** The last bytes of a head that is not complete yet. */
  private start: Buffer = Buffer.alloc(0);
  /** The last five bytes. */
  private tail = '';
  private surplus = false;
  private writtenBefore = 0;

  constructor(
    private readonly socket: Duplex & { readonly bytesWritten?: number },
    private readonly neverSent: (error: Error) => void,
  ) {
    socket.prependListener('data', this.see);
  }

  /** Call it when a request begins to use the connection. */
  begin(request: ClientRequest): void {
    this.request = request;
    this.response = undefined;
    this.received = 0;
    this.headBytes = undefined;
    this.start = Buffer.alloc(0);
    this.tail = '';
    this.surplus = false;
    this.writtenBefore = this.socket.bytesWritten ?? 0;
    request.once('response', (response) => (this.response = response));
  }

  /** Call it when the reply has ended. Returns true if its last byte is the last one that arrived. */
  end(): boolean {
    const isWhole = this.endsExactly();
    this.request = this.response = undefined;
    return isWhole;
  }

  private readonly see = (chunk: Buffer): void => {
    if (this.request === undefined) return void this.socket.destroy();
    if (this.received === 0 && this.socket.bytesWritten === this.writtenBefore) return this.refuse();
    // The parser has not read this chunk yet, so a response that is complete now was complete before it.
    if (this.response?.complete === true && this.response.statusCode !== 304) this.surplus = true;
    if (this.headBytes === undefined) this.findHead(chunk);
    this.received += chunk.length;
    const last = chunk.toString('latin1', Math.max(0, chunk.length - 5));
    this.tail = (this.tail + last).slice(-5);
  };

  private refuse(): void {
    const error = new EarlyBytes();
    this.neverSent(error);
    this.socket.destroy(error);
  }

  private findHead(chunk: Buffer): void {
    const seen = this.start.length === 0 ? chunk : Buffer.concat([this.start, chunk]);
    const end = seen.indexOf('\r\n\r\n');
    if (end !== -1) this.headBytes = this.received - this.start.length + end + 4;
    else this.start = Buffer.from(seen.subarray(-3));
  }

  private endsExactly(): boolean {
    const { request, response, headBytes } = this;
    if (!response?.complete || headBytes === undefined || this.surplus) return false;
    const bodyBytes = this.received - headBytes;
    const { statusCode, headers } = response;
    if (request?.method === 'HEAD' || statusCode === 204 || statusCode === 304) return bodyBytes === 0;
    if (headers['transfer-encoding'] !== undefined) return this.tail === '0\r\n\r\n';
    return bodyBytes === Number(headers['content-length']);
  }
}
