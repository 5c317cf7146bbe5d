import { tap } from 'rxjs';
import { TransportError } from '../../../src/transport/transport-error.js';
import type { Transport } from '../../../src/transport/transport.js';
import type { RunLog } from '../log/open-log.js';
import { stopCauses } from './stop-causes.js';
import type { StopCause, Stops } from './stops.js';

/** The run stops if no request has been accepted for this long, in ms; a shorter outage may pass. */
const patienceMs = 120_000;
/** The run stops if a host name does not resolve for at least this long, in ms, and for this many tries. */
const leastMs = 4_000;
const leastTries = 3;
/**
 * The run stops when this many successive POSTs to one endpoint are unknown, in at least this many rounds: POSTs that
 * are in flight together are one round.
 */
const mostUndecided = 20;
const leastRounds = 4;
/** At most this many different faults are logged. */
const mostLogged = 20;

/** Where connection faults are reported. */
interface Reporting {
  readonly now: () => number;
  readonly log: RunLog;
  readonly events: { next(event: { readonly type: 'unreached'; readonly message: string }): void };
  readonly stops: Stops;
}

/**
 * Whether requests of a run reach its service, and if not, why. All rows in flight share this: if each of 50 rows used up its
 * own tries, a run would continue for an hour while the service is down.
 */
export class ServiceReach {
  /** Number of answers that show that the service can be reached and accepts requests. */
  answers = 0;
  /** Why the latest request did not reach the service; `undefined` once it has answered. */
  message: string | undefined;
  /** The system's error code, if the latest request had no connection because too many files are open. */
  private tooMany: 'EMFILE' | 'ENFILE' | undefined;
  /** Endpoints whose latest request was refused, failed (5xx) or was not answered. */
  private readonly failingAt = new Set<string>();
  private failing: Rounds | undefined;
  /** POSTs since the last one with a clear answer, by endpoint: each of them may have been accepted. */
  private readonly undecidedAt = new Map<string, Rounds>();
  private readonly logged = new Set<string>();
  private stuck = { since: 0, answers: -1 };
  private missing = { since: 0, tries: 0 };

  /**
   * @param maxRetries extra tries of a row
   * @param reporting where faults are reported and logged. @defaultValue nowhere
   */
  constructor(
    private readonly maxRetries: number,
    private readonly reporting?: Reporting,
  ) {}

  /** Wraps a transport to note errors that prevent its requests from reaching the service. */
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

  /** @param endpoint its id; the empty string for routes */
  answered(endpoint = ''): void {
    this.answers += 1;
    this.failingAt.delete(endpoint);
    this.failing = undefined;
  }

  /**
   * Counts a POST that was certainly not accepted. Tries that were in flight together count as one. Times in ms by one
   * clock.
   *
   * @returns whether the run should stop: nothing was accepted for two minutes, and for as many tries as one row has
   */
  failed(tried: Try): boolean {
    const failing = (this.failing = oneMore(this.failing, tried));
    return failing.rounds > this.maxRetries && tried.at - failing.since >= patienceMs;
  }

  /** Records that a POST to an endpoint had an answer that decides it. */
  decided(endpoint: string): void {
    this.undecidedAt.delete(endpoint);
  }

  /**
   * Counts a POST that may have been accepted but had no clear answer.
   *
   * @returns the number of successive ones if the run should stop, because each further one may be paid for without a
   *   result; otherwise `undefined`
   */
  undecided(endpoint: string, tried: Try): number | undefined {
    const rounds = oneMore(this.undecidedAt.get(endpoint), tried);
    this.undecidedAt.set(endpoint, rounds);
    return rounds.tries >= mostUndecided && rounds.rounds >= leastRounds ? rounds.tries : undefined;
  }

  /** Records that a request to an endpoint was refused, failed (5xx) or was not answered. */
  notAnswered(endpoint: string): void {
    this.failingAt.add(endpoint);
  }

  /** Whether the latest request to an endpoint was refused, failed or was not answered. */
  isFailing(endpoint: string): boolean {
    return this.failingAt.has(endpoint);
  }

  /**
   * Why a run stops when nothing gets through: the service is not to blame if this machine opens no connection.
   */
  whyUnreached(message: string): StopCause {
    return this.tooMany === undefined
      ? stopCauses.unreachable(message)
      : stopCauses.tooManyOpen(this.tooMany);
  }

  private note({ message, systemCode }: TransportError): void {
    this.message = message;
    this.tooMany = systemCode === 'EMFILE' || systemCode === 'ENFILE' ? systemCode : undefined;
    if (this.reporting === undefined) return;
    const { log, events, stops, now } = this.reporting;
    events.next({ type: 'unreached', message });
    if (!this.logged.has(message) && this.logged.size < mostLogged) {
      this.logged.add(message);
      log.write('warn', { systemCode }, message);
    }
    if (this.tooMany !== undefined && this.isStuck(now())) stops.stop(stopCauses.tooManyOpen(this.tooMany));
    if (systemCode === 'ENOTFOUND' && this.isMisspelt(now()))
      stops.stop(stopCauses.unreachable(`${message}: no host has this name, look at --base-url`));
  }

  /**
   * Whether no connection could be opened for so long, without an answer, that the run ends. Before that its own connections, or
   * the files of others, may be closed; later the jobs that it polls would fail at their deadline.
   */
  private isStuck(now: number): boolean {
    if (this.stuck.answers !== this.answers) this.stuck = { since: now, answers: this.answers };
    return now - this.stuck.since >= patienceMs;
  }

  /** Whether a host name that does not resolve ends the run: if it is misspelt, waiting does not help. */
  private isMisspelt(now: number): boolean {
    if (this.missing.tries === 0) this.missing.since = now;
    this.missing.tries++;
    const isLong = this.missing.tries >= leastTries && now - this.missing.since >= leastMs;
    return isLong && this.answers === 0;
  }
}

/** When a POST was sent and when it failed, in ms by one clock. */
interface Try {
  readonly sentAt: number;
  readonly at: number;
}

/** Tries that failed one after another; those that were in flight together are one round. */
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

export interface PostAnswer {
  readonly endpoint: string;
  /** When it was sent and when it ended, in ms by one clock. */
  readonly sentAt: number;
  readonly at: number;
  /** Why the POST may have been accepted; `undefined` if its answer decides that. */
  readonly whyUnknown: string | undefined;
}

interface AnswerParts {
  readonly reach: ServiceReach;
  readonly stops: Stops;
  /** Whether a row of another endpoint is in work, whose requests are answered. */
  readonly areOthersAnswered: () => boolean;
}

/** Stops the run if the answers to many successive POSTs are unreadable: each may be charged for without a result. */
export function noteAnswer(
  { reach, stops, areOthersAnswered }: AnswerParts,
  { endpoint, sentAt, at, whyUnknown }: PostAnswer,
): void {
  if (whyUnknown === undefined) return reach.decided(endpoint);
  const posts = reach.undecided(endpoint, { sentAt, at });
  if (posts === undefined || stops.isStopping || areOthersAnswered()) return;
  stops.stop(stopCauses.undecided(posts, whyUnknown));
}
