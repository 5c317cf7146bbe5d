import { parseMilliseconds } from '../settings/parse-latency.js';

/** The operation of a request. `route` is a call of a load-balanced route, `picture` the download of an edited picture. */
export const operations = [
  'run',
  'runsync',
  'status',
  'status-sync',
  'stream',
  'cancel',
  'retry',
  'health',
  'purge-queue',
  'route',
  'picture',
] as const;

/** The operations, by the names that faults use. */
export type Operation = (typeof operations)[number];

/**
 * When a fault applies: `before` the request has an effect, `after` it (the job runs, the answer is lost or broken),
 * or to the `job` itself.
 */
export type FaultPhase = 'before' | 'after' | 'job';

/** One fault of a request. */
export interface Fault {
  /** Its name in the table of faults, without `-after`: `cut`, `429`, `price`. */
  name: string;
  phase: FaultPhase;
  /** The text after the colon. */
  value?: string;
}

/** A fault with its probability and the operations it is drawn for. */
export interface FaultRule {
  fault: Fault;
  on: ReadonlySet<Operation>;
  /** From 0 to 1. */
  probability: number;
}

export interface FaultKind {
  name: string;
  phase: FaultPhase;
  possible: readonly Operation[];
  /** Its operations unless `@` names others. */
  usual: readonly Operation[];
  /** Checks the text after the colon, which may be absent: a problem, or `undefined`. */
  check: (value: string | undefined) => string | undefined;
}

/** Looks up `cut`, `reset-after`, `503`, `500-after`, …; `undefined` if there is no such fault. */
export function faultKind(name: string): FaultKind | undefined {
  const code = /^([45]\d\d)(-after)?$/.exec(name);
  if (code?.[1] !== undefined)
    return { ...everywhere(code[2] === undefined ? 'before' : 'after', optionalText), name: code[1] };
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  return kind && { ...kind, name: name.replace(/-(before|after)$/, '') };
}

/** The names for a message; one entry stands for all HTTP codes. */
export function faultNames(): string[] {
  return ['<400–599>', '<400–599>-after', ...Object.keys(kinds)];
}

const submissions: readonly Operation[] = ['run', 'runsync'];
const jobReplies: readonly Operation[] = ['run', 'runsync', 'status', 'status-sync', 'cancel', 'retry'];
const polls: readonly Operation[] = ['status', 'status-sync'];

const kinds: Record<string, Omit<FaultKind, 'name'>> = {
  'reset-before': everywhere('before', none),
  'reset-after': everywhere('after', none),
  hang: everywhere('before', none),
  'hang-after': everywhere('after', none),
  redirect: everywhere('before', url),
  slow: everywhere('after', milliseconds),
  drip: everywhere('after', milliseconds),
  cut: everywhere('after', none),
  malformed: everywhere('after', none),
  html: everywhere('after', none),
  empty: everywhere('after', none),
  null: everywhere('after', none),
  'wrong-id': { phase: 'after', possible: jobReplies, usual: polls, check: none },
  'unknown-status': { phase: 'after', possible: jobReplies, usual: polls, check: optionalText },
  backwards: { phase: 'after', possible: polls, usual: polls, check: none },
  'early-runsync': { phase: 'job', possible: ['runsync'], usual: ['runsync'], check: earlyStatus },
  price: ofJobs(factor),
  'no-cost': ofJobs(none),
  'null-cost': ofJobs(none),
  'no-output': ofJobs(none),
  expire: ofJobs(none),
  stuck: ofJobs((value) => (value === undefined ? undefined : milliseconds(value))),
  fail: ofJobs(optionalText),
  'timed-out': ofJobs(none),
  'callback-late': ofJobs(milliseconds),
  'callback-twice': ofJobs(none),
  'callback-forged': ofJobs(none),
  'callback-wrong-id': ofJobs(none),
  'callback-never': ofJobs(none),
  'callback-first': { phase: 'job', possible: ['run'], usual: ['run'], check: none },
};

function everywhere(phase: FaultPhase, check: FaultKind['check']): Omit<FaultKind, 'name'> {
  return { phase, possible: operations, usual: operations.filter((each) => each !== 'picture'), check };
}

function ofJobs(check: FaultKind['check']): Omit<FaultKind, 'name'> {
  return { phase: 'job', possible: submissions, usual: submissions, check };
}

function none(value: string | undefined): string | undefined {
  return value === undefined ? undefined : 'takes nothing behind a colon';
}

function optionalText(): undefined {
  return undefined;
}

function earlyStatus(value: string | undefined): string | undefined {
  return value === undefined || value === 'IN_QUEUE' || value === 'IN_PROGRESS'
    ? undefined
    : 'takes IN_QUEUE or IN_PROGRESS behind a colon';
}

function milliseconds(value: string | undefined): string | undefined {
  return value !== undefined && parseMilliseconds(value) !== undefined
    ? undefined
    : 'needs a time behind a colon, as in slow=0.1:500';
}

function factor(value: string | undefined): string | undefined {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value)
    ? undefined
    : 'needs a factor behind a colon, as in price=0.05:1.2';
}

function url(value: string | undefined): string | undefined {
  return value !== undefined && /^https?:\/\//.test(value) && URL.canParse(value)
    ? undefined
    : 'needs a URL behind a colon, as in redirect=0.1:http://127.0.0.1:9/';
}
