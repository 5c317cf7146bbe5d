import { tap, type Subject } from 'rxjs';
import { TransportError } from '../../../src/transport/transport-error.js';
import type { Transport } from '../../../src/transport/transport.js';
import type { RunLog } from '../log/open-log.js';
import type { RunEvent } from '../context/run-event.js';
import { stopCauses } from './stop-causes.js';
import type { Stops } from './stops.js';

/** The run ends when a host name does not resolve for at least this time and this many tries. */
const leastMs = 4_000;
const leastTries = 3;
const mostLogged = 20;

interface Surroundings {
  readonly now: () => number;
  readonly log: RunLog;
  readonly events: Subject<RunEvent>;
  readonly stops: Stops;
  readonly reach: { readonly answers: number };
}

/**
 * Why requests do not reach the service: shown and logged from the first failure on, until an answer comes. A host whose
 * name does not exist ends the run early, unless something has been answered: no wait helps against a misspelt name.
 */
export class Unreached {
  /** Of the latest request; `undefined` once the service has answered. */
  message: string | undefined;
  private readonly logged = new Set<string>();
  private missing = { since: 0, tries: 0 };

  constructor(private readonly around: Surroundings) {}

  /** The same transport, watched. */
  watch(transport: Transport): Transport {
    return (request) =>
      transport(request).pipe(
        tap({
          next: () => (this.message = undefined),
          error: (error: unknown) => {
            if (error instanceof TransportError) this.note(error);
          },
        }),
      );
  }

  private note({ message, systemCode }: TransportError): void {
    const { log, events } = this.around;
    this.message = message;
    events.next({ type: 'unreached', message });
    if (!this.logged.has(message) && this.logged.size < mostLogged) {
      this.logged.add(message);
      log.write('warn', { systemCode }, message);
    }
    if (systemCode === 'ENOTFOUND') this.noteMissing(message);
  }

  private noteMissing(message: string): void {
    const { now, stops, reach } = this.around;
    if (this.missing.tries === 0) this.missing.since = now();
    this.missing.tries++;
    if (reach.answers > 0 || this.missing.tries < leastTries || now() - this.missing.since < leastMs) return;
    stops.stop(stopCauses.unreachable(`${message}: no host has this name, look at --base-url`));
  }
}
