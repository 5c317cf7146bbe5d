import type { Duplex } from 'node:stream';
import { Client } from 'undici';
import type { buildConnector } from 'undici';
import { maxIdleMsOf, takeFree } from '../connections/connection-reuse.js';

export interface ConnectionsOptions {
  readonly connect: ReturnType<typeof buildConnector>;
  /** A clock in ms that never goes back. */
  readonly now: () => number;
}

/**
 * The connections to one host. undici's own pool gives a connection to the next request at once, and looks for bytes
 * that no request asked for only when no request waits: under load it takes a stray reply for the answer to the next
 * request.
 */
export class Connections {
  private readonly free: Connection[] = [];

  constructor(
    private readonly origin: string,
    private readonly options: ConnectionsOptions,
  ) {}

  take(paid: boolean): Connection {
    const at = (connection: Connection): Connection => connection;
    return takeFree(this.free, { at, now: this.options.now(), paid }) ?? this.open();
  }

  /** A reply has ended: the connection rests. */
  give(connection: Connection, keepAlive: string | undefined): void {
    connection.isUsed = true;
    connection.idleSince = this.options.now();
    connection.maxIdleMs = maxIdleMsOf(keepAlive);
    if (!connection.isClosed) this.free.push(connection);
  }

  private open(): Connection {
    const connection = new Connection(this.origin, this.options.connect);
    connection.client.on('disconnect', () => {
      const at = this.free.indexOf(connection);
      if (at === -1) return;
      this.free.splice(at, 1);
      connection.close();
    });
    return connection;
  }
}

/** One connection, and one request at a time. */
export class Connection {
  readonly client: Client;
  socket: Duplex | undefined;
  /** It has carried a request. A new connection over TLS may still have session tickets to be read. */
  isUsed = false;
  idleSince = 0;
  maxIdleMs = 0;

  constructor(origin: string, connect: ConnectionsOptions['connect']) {
    this.client = new Client(origin, {
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, callback) =>
        connect(options, (...made) => {
          if (made[1] !== null) this.socket = made[1];
          callback(...made);
        }),
    });
  }

  get isClosed(): boolean {
    return this.client.destroyed || this.socket?.destroyed === true;
  }

  close(): void {
    this.client.destroy().catch(() => undefined);
  }
}
