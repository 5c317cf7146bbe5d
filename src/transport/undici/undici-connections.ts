import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { buildConnector, Client } from 'undici';
import { clampTimer } from '../../policy/client-clock.js';
import { openTunnel, tunnelError } from '../connections/open-tunnel.js';
import { bareHost, destinationOf, type ProxyRules } from '../connections/proxy-rules.js';
import type { FaultPhase } from '../transport-error.js';
import type { PhaseTimeouts } from '../transport.js';
import { addressMs, maxIdleMsOf, takeFree } from '../connections/connection-reuse.js';

export interface ConnectOptions {
  /** Certificate authorities to trust, in PEM, instead of Node's own list. */
  ca?: string | string[] | undefined;
  lookup?: LookupFunction | undefined;
  /** The environment that names proxies. @defaultValue process.env */
  env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** A connection that took too long, with the phase that it was in. */
export class ConnectTimeout extends Error {
  constructor(readonly phase: FaultPhase) {
    super(`timed out (${phase})`);
  }
}

type Connect = ReturnType<typeof buildConnector>;
type ConnectLimits = Pick<PhaseTimeouts, 'lookupMs' | 'connectMs' | 'secureConnectMs'>;

/** Connects with a limit for each phase; undici itself has one limit for all. Certificates are always verified. */
export function createConnect(
  { ca, lookup, rules }: Pick<ConnectOptions, 'ca' | 'lookup'> & { readonly rules: ProxyRules },
  limits: ConnectLimits,
): { connect: Connect; neverConnected: (error: unknown) => boolean } {
  const early = new WeakSet();
  const connect = buildConnector({
    timeout: 0,
    autoSelectFamilyAttemptTimeout: addressMs,
    rejectUnauthorized: true,
    ...(ca && { ca }),
    ...(lookup && { lookup }),
  }) as (...given: Parameters<Connect>) => Socket;
  function overTunnel(tunnel: Socket, ...[options, callback]: Parameters<Connect>): void {
    if (options.protocol !== 'https:') return callback(null, tunnel);
    const socket = connect({ ...options, httpSocket: tunnel }, (...made) => {
      clearTimeout(limit);
      if (made[0]) early.add(made[0]);
      callback(...made);
    });
    const end = (): unknown => socket.destroy(new ConnectTimeout('secure-connect'));
    const limit = setTimeout(end, clampTimer(limits.secureConnectMs));
  }

  return {
    neverConnected: (error) => typeof error === 'object' && error !== null && early.has(error),
    connect(options, callback) {
      const destination = destinationOf(new URL(`${options.protocol}//${options.host ?? options.hostname}`));
      const proxy = rules(destination);
      if (proxy !== undefined) {
        openTunnel(proxy, destination).then(
          (socket) => overTunnel(socket, options, callback),
          (cause: unknown) => {
            const error = tunnelError(cause);
            early.add(error);
            callback(error, null);
          },
        );
        return;
      }
      const socket = connect(options, (...made) => {
        if (made[0]) early.add(made[0]);
        callback(...made);
      });
      limitPhases(
        socket,
        {
          secure: options.protocol === 'https:',
          named: isIP(bareHost(options.hostname)) === 0,
        },
        limits,
      );
    },
  };
}

/** Limits each phase, with one timer that is set again at the end of each. */
function limitPhases(
  socket: Socket,
  { secure, named }: { secure: boolean; named: boolean },
  limits: ConnectLimits,
): void {
  let timer: NodeJS.Timeout | undefined;
  const limit = (phase: FaultPhase, ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => socket.destroy(new ConnectTimeout(phase)), clampTimer(ms));
  };
  const done = (): void => clearTimeout(timer);
  if (named) limit('lookup', limits.lookupMs);
  else limit('connect', limits.connectMs);
  socket.once('lookup', () => limit('connect', limits.connectMs));
  socket.once('connect', () => (secure ? limit('secure-connect', limits.secureConnectMs) : done()));
  socket.once('secureConnect', done);
  socket.once('close', done);
}

interface ConnectionsOptions {
  readonly connect: ReturnType<typeof buildConnector>;
  /** A clock in ms that never goes back. */
  readonly now: () => number;
}

/**
 * The connections to one host. undici's own pool reuses a connection at once, and looks for unrequested bytes only if no
 * request waits: under load it would read a stray reply as the answer to the next request.
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

  /** Returns a connection after its reply has ended; it then rests. */
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
  /** Whether it has carried a request. A new connection over TLS may still have session tickets to read. */
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
