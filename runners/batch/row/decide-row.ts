import { type FailureCode, failureCodes } from '../../../src/contract/failure-code.js';
import type { Outcome } from '../../../src/contract/outcome.js';
import type { RowState } from '../journal/rows/row-states.js';
import type { Row } from '../manifest/manifest-row.js';
import { InvalidOptionError } from '../../../src/contract/millrace-error.js';
import { factsOf, type Task } from './task.js';

/** What this start does with a row of the manifest. */
export type Decision =
  /** `reopen`: it had ended, and is taken up again. */
  | { readonly what: 'send'; readonly reopen?: 'retry' | 'redo' }
  /** A job that was bought elsewhere is polled. */
  | { readonly what: 'collect'; readonly jobId: string; readonly reopen?: 'retry' }
  /** A picture that was bought elsewhere is fetched. */
  | { readonly what: 'fetch'; readonly imageUrl: string; readonly reopen?: 'retry' }
  /** It may have been bought: it fails, and a person decides. */
  | { readonly what: 'hold'; readonly code: FailureCode }
  /** It has ended, and stays so. */
  | {
      readonly what: 'leave';
      /** `open`: what it waits for is another version, which is to replace this one. */
      readonly status: 'open' | 'completed' | FailureCode;
      /** Whether its content is not what was sent; worked out when it is asked for. */
      readonly changed: () => boolean;
    }
  /** Its purchase goes on from the journal. */
  | { readonly what: 'pending' };

export interface DecisionRules {
  /** Failures that are taken up again. */
  readonly retry: ReadonlySet<FailureCode>;
  readonly changed: 'keep' | 'redo';
  /** Whether the journal may have lost a purchase of the row. */
  readonly mustHold: (id: string, row: number) => boolean;
}

/** The rules of a start, with what the journal knows of lost records. */
export function rulesOf(
  { retry, changed }: Pick<DecisionRules, 'retry' | 'changed'>,
  known: { mustHold(id: string, row: number): boolean },
): DecisionRules {
  return { retry, changed, mustHold: (id, row) => known.mustHold(id, row) };
}

/**
 * Decides by what the journal knows of the row. Nothing that was paid, or may have been, is sent unless the rules say so,
 * and never a version that was bought once and that a later one was made to replace.
 */
export function decideRow(row: Row, state: RowState | undefined, rules: DecisionRules): Decision {
  const status = state?.status ?? 'open';
  switch (status) {
    case 'open':
      if (state?.isReplaced(row.hash) === true) return { what: 'leave', status, changed: () => false };
      return begin(row, rules);
    case 'sent':
    case 'accepted':
    case 'replied':
      return { what: 'pending' };
    case 'completed':
      return afterCompletion(row, state, rules);
    case 'invalid-row':
      return again(row, status, rules);
    case 'deadline':
    case 'download':
      return { what: 'leave', status, changed: () => hasChanged(row, state) };
    default:
      if (rules.retry.has(status) && state?.isReplaced(row.hash) !== true) return again(row, status, rules);
      return { what: 'leave', status, changed: () => hasChanged(row, state) };
  }
}

function begin(row: Row, rules: DecisionRules): Decision {
  const { prior, jobId } = row;
  if (rules.mustHold(row.id, row.row) && !rules.retry.has('unknown'))
    return { what: 'hold', code: 'unknown' };
  if (jobId !== undefined) return { what: 'collect', jobId };
  if (prior === undefined || prior.paid === 'no') return { what: 'send' };
  if (prior.code === 'download' && prior.imageUrl !== undefined)
    return { what: 'fetch', imageUrl: prior.imageUrl };
  const isAsked = rules.retry.has(prior.code) && prior.code !== 'download' && prior.code !== 'deadline';
  return isAsked ? { what: 'send' } : { what: 'hold', code: prior.code };
}

function again(row: Row, status: FailureCode, rules: DecisionRules): Decision {
  const decision = begin(row, rules);
  if (decision.what === 'send' || decision.what === 'collect' || decision.what === 'fetch')
    return { ...decision, reopen: 'retry' };
  return { what: 'leave', status, changed: () => false };
}

function afterCompletion(row: Row, state: RowState | undefined, rules: DecisionRules): Decision {
  const isRedone = rules.changed === 'redo' && row.jobId === undefined && hasChanged(row, state);
  if (isRedone) return { what: 'send', reopen: 'redo' };
  return { what: 'leave', status: 'completed', changed: () => hasChanged(row, state) };
}

function hasChanged(row: Row, state: RowState | undefined): boolean {
  return state?.sameContent(row.hash) === false;
}

/**
 * The failure codes that the words of `--retry` stand for: codes, `failed` (all that were not paid) and `all`.
 *
 * @throws {InvalidOptionError} for a word that is neither
 */
export function retryCodes(words: readonly string[]): ReadonlySet<FailureCode> {
  return new Set(words.flatMap(codesOf));
}

const rowCodes = (Object.keys(failureCodes) as FailureCode[]).filter(
  (code) => failureCodes[code].scope === 'row',
);

function codesOf(word: string): readonly FailureCode[] {
  if (word === 'all') return rowCodes;
  if (word === 'failed') return rowCodes.filter((code) => failureCodes[code].paid === 'no');
  const code = rowCodes.find((known) => known === word);
  if (code === undefined)
    throw new InvalidOptionError('retry', `"${word}" is no failure code, nor one of failed, all`);
  return [code];
}

/** A row that something is done with. */
export type TakenDecision = Exclude<Decision, { what: 'leave' | 'pending' }>;

/** What a row of the manifest needs of this start, once it is decided. */
export function manifestTask(row: Row, decision: TakenDecision, attempts: number): Task {
  const facts = factsOf(row);
  if (decision.what === 'hold') return { what: 'hold', row: facts, code: decision.code, attempts };
  if (decision.what === 'collect') return { what: 'poll', row: facts, jobId: decision.jobId, attempts };
  if (decision.what === 'fetch') return { what: 'fetch', row: facts, imageUrl: decision.imageUrl, attempts };
  return { what: 'send', row: facts, attempts };
}

/**
 * Whether a row is sent once more after a request that may have been accepted, because the user prefers to risk paying twice.
 *
 * @param doubles how often this start has sent it once more already
 */
export function retriesPurchase(outcome: Outcome<unknown>, rules: UnknownRules, doubles: number): boolean {
  return outcome.status === 'failed' && outcome.code === 'unknown' && retriesUnknown(rules, doubles);
}

/** The same where it is known already that the request may have been accepted. */
export function retriesUnknown({ onUnknown, retries }: UnknownRules, doubles: number): boolean {
  return onUnknown === 'retry' && doubles < retries;
}

interface UnknownRules {
  readonly onUnknown: 'hold' | 'retry';
  readonly retries: number;
}
