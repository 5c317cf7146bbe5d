import type { LookupFunction, Socket } from 'node:net';
import { buildConnector } from 'undici';
import { clampTimer } from '../policy/clamp-timer.js';
import { createConnectionWatch } from './connection-watch.js';
import type { FaultPhase } from './transport-error.js';
import type { PhaseTimeouts } from './transport.js';

export interface ConnectOptions {
  ca?: string | string[] | undefined;
  lookup?: LookupFunction | undefined;
}

/** A connection that did not come about in time, with the phase it was in. */
export class ConnectTimeout extends Error {
  constructor(readonly phase: FaultPhase) {
    super(`timed out (${phase})`);
  }
}

type Connect = ReturnType<typeof buildConnector>;

/** Connects with a limit for each phase, which undici itself does not tell apart. Certificates are always verified. */
export function createConnect(
  { ca, lookup }: ConnectOptions,
  timeouts: Pick<PhaseTimeouts, 'lookupMs' | 'connectMs' | 'secureConnectMs'>,
): { connect: Connect; neverConnected: (error: unknown) => boolean } {
  const { neverConnected, watch } = createConnectionWatch();
  const connect = buildConnector({
    timeout: 0,
    rejectUnauthorized: true,
    ...(ca && { ca }),
    ...(lookup && { lookup }),
  }) as (...given: Parameters<Connect>) => Socket;
  return {
    neverConnected,
    connect(options, callback) {
      const secure = options.protocol === 'https:';
      const socket = connect(options, callback);
      watch(socket, secure);
      limitPhases(socket, secure, timeouts);
    },
  };
}

/** One timer at a time, set anew as each phase ends. */
function limitPhases(socket: Socket, secure: boolean, timeouts: Parameters<typeof createConnect>[1]): void {
  let timer: NodeJS.Timeout | undefined;
  const limit = (phase: FaultPhase, ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => socket.destroy(new ConnectTimeout(phase)), clampTimer(ms));
  };
  const done = (): void => clearTimeout(timer);
  limit('lookup', timeouts.lookupMs);
  socket.once('lookup', () => limit('connect', timeouts.connectMs));
  socket.once('connect', () => (secure ? limit('secure-connect', timeouts.secureConnectMs) : done()));
  socket.once('secureConnect', done);
  socket.once('close', done);
}
