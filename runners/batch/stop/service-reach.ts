import { tap } from 'rxjs';
import { TransportError } from '../../../src/transport/transport-error.js';
import type { Transport } from '../../../src/transport/transport.js';
import type { RunLog } from '../log/open-log.js';
import { stopCauses } from './stop-causes.js';
import type { Stops } from './stops.js';

/** The run stops when no request has got through for this long; a shorter outage may pass. */
const patienceMs = 120_000;
/** The run stops when a host name does not resolve for at least this time and this many tries. */
const leastMs = 4_000;
const leastTries = 3;
/** The run stops when so many POSTs to one endpoint in a row are in doubt, and not all of them were under way together. */
const mostUndecided = 20;
const leastRounds = 4;
/** At most this many different faults are logged. */
const mostLogged = 20;

/** Where faults of the way to the service are reported. */
interface Reporting {
  readonly now: () => number;
  readonly log: RunLog;
  readonly events: { next(event: { readonly type: 'unreached'; readonly message: string }): void };
  readonly stops: Stops;
}

/**
 * Whether requests of a run get through to its service, and why not. The rows in flight share one answer to that: with 50 of
 * them, each with tries of its own and one probe at a time, a run would go on for an hour against a service that is away.
 */
export class ServiceReach {
  /** Answers that show that the service can be reached and takes requests. */
  answers = 0;
  /** Why the latest request did not reach the service; `undefined` once it has answered. */
  message: string | undefined;
  /** Endpoints whose latest answer was none, or a refusal. */
  private readonly failingAt = new Set<string>();
  private failing: Rounds | undefined;
  /** POSTs since the last one that was answered, by endpoint: each may have been accepted, and nobody knows. */
  private readonly undecidedAt = new Map<string, Rounds>();
  private readonly logged = new Set<string>();
  private missing = { since: 0, tries: 0 };

  /**
   * @param maxRetries extra tries of a row
   * @param reporting where faults are shown and logged, from the first one on until an answer comes. @defaultValue nowhere
   */
  constructor(
    private readonly maxRetries: number,
    private readonly reporting?: Reporting,
  ) {}

  /** The same transport; what keeps its requests from the service is noted. */
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

  /** @param endpoint its id, the empty string for routes */
  answered(endpoint = ''): void {
    this.answers += 1;
    this.failingAt.delete(endpoint);
    this.failing = undefined;
  }

  /**
   * Takes in a POST that was provably not accepted. Tries that were under way together count as one. Times in ms by one clock.
   *
   * @returns whether the run should stop: nothing got through for two minutes, and for as many tries as one row has
   */
  failed(tried: Try): boolean {
    const failing = (this.failing = oneMore(this.failing, tried));
    return failing.rounds > this.maxRetries && tried.at - failing.since >= patienceMs;
  }

  /** Takes in that a POST to an endpoint was answered in a way that says what became of it. */
  decided(endpoint: string): void {
    this.undecidedAt.delete(endpoint);
  }

  /**
   * Takes in a POST that may have been accepted and had no answer that says so.
   *
   * @returns how many there were in a row once the run should stop: each further one may be paid for nothing; else `undefined`
   */
  undecided(endpoint: string, tried: Try): number | undefined {
    const rounds = oneMore(this.undecidedAt.get(endpoint), tried);
    this.undecidedAt.set(endpoint, rounds);
    return rounds.tries >= mostUndecided && rounds.rounds >= leastRounds ? rounds.tries : undefined;
  }

  /** Takes in that a request to an endpoint was refused, failed (5xx) or was not answered. */
  notAnswered(endpoint: string): void {
    this.failingAt.add(endpoint);
  }

  /** Whether the latest request to an endpoint was refused, failed or was not answered. */
  isFailing(endpoint: string): boolean {
    return this.failingAt.has(endpoint);
  }

  private note({ message, systemCode }: TransportError): void {
    this.message = message;
    if (this.reporting === undefined) return;
    const { log, events, stops, now } = this.reporting;
    events.next({ type: 'unreached', message });
    if (!this.logged.has(message) && this.logged.size < mostLogged) {
      this.logged.add(message);
      log.write('warn', { systemCode }, message);
    }
    if (systemCode === 'ENOTFOUND' && this.isMisspelt(now()))
      stops.stop(stopCauses.unreachable(`${message}: no host has this name, look at --base-url`));
  }

  /** Whether a host whose name does not exist ends the run: no wait helps against a misspelt name. */
  private isMisspelt(now: number): boolean {
    if (this.missing.tries === 0) this.missing.since = now;
    this.missing.tries++;
    const isLong = this.missing.tries >= leastTries && now - this.missing.since >= leastMs;
    return isLong && this.answers === 0;
  }
}

/** When a POST was sent and when it had failed, in ms by one clock. */
interface Try {
  readonly sentAt: number;
  readonly at: number;
}

/** Tries that failed one after another; those that were under way together are one round. */
interface Rounds {
  readonly since: number;
  readonly tries: number;
  readonly rounds: number;
  readonly lastAt: number;
}

function oneMore(
  { since, tries, rounds, lastAt }: Rounds = { since: NaN, tries: 0, rounds: 0, lastAt: -Infinity },
  { sentAt, at }: Try,
): Rounds {
  const begins = sentAt >= lastAt;
  return {
    since: tries === 0 ? at : since,
    tries: tries + 1,
    rounds: begins ? rounds + 1 : rounds,
    lastAt: begins ? at : lastAt,
  };
}
