import { isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { env as processEnv } from 'node:process';
import { buildConnector } from 'undici';
import { clampTimer } from '../../policy/clamp-timer.js';
import { openTunnel, tunnelError } from '../connections/open-tunnel.js';
import { bareHost, destinationOf, proxyRules } from '../connections/proxy-rules.js';
import type { FaultPhase } from '../transport-error.js';
import type { PhaseTimeouts } from '../transport.js';

export interface ConnectOptions {
  /** Certificate authorities to trust, in PEM, in place of Node's own list. */
  ca?: string | string[] | undefined;
  lookup?: LookupFunction | undefined;
  /** Where proxies are named. @defaultValue process.env */
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
  { ca, lookup, env = processEnv }: ConnectOptions,
  limits: ConnectLimits,
): { connect: Connect; neverConnected: (error: unknown) => boolean } {
  const early = new WeakSet();
  const rules = proxyRules(env);
  const connect = buildConnector({
    timeout: 0,
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

/** One timer at a time, set again at the end of each phase. */
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
