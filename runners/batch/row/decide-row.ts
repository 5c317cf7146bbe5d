import { type FailureCode, failureCodes } from '../../../src/contract/failure-code.js';
import type { Outcome } from '../../../src/contract/outcome.js';
import type { RowState } from '../journal/rows/row-states.js';
import type { Row } from '../manifest/manifest-row.js';
import { hashesOf, type RowHashes } from '../manifest/request-hash.js';
import { InvalidOptionError } from '../../../src/contract/millrace-error.js';
import { rejectedAttempt } from '../manifest/matrix/redo-columns.js';
import { isEnd } from './row-status.js';
import { isRead, type TaskSpec } from './task.js';

/** The rules by which a start decides on the rows of its manifest. */
export interface ManifestRules {
  /** Failed rows with these codes are sent again or continued. */
  readonly retry: ReadonlySet<FailureCode>;
  readonly changed?: 'keep' | 'redo' | undefined;
  /** Whether the journal may have lost a purchase of the row. @defaultValue it has lost nothing */
  readonly mustHold?: (id: string, row: number) => boolean;
  /** See `Recovered.leftUnknown`. @defaultValue no rows */
  readonly leftUnknown?: ReadonlySet<string> | undefined;
}

/** The rules of a start, before it changes anything. */
export function rulesOf(
  { retry, changed }: Pick<ManifestRules, 'retry' | 'changed'>,
  { mustHold, leftUnknown }: Pick<ManifestRules, 'mustHold' | 'leftUnknown'>,
): ManifestRules {
  return { retry, changed, mustHold, leftUnknown };
}

/**
 * Decides what this start does with a row of the manifest, from its state in the journal. A row that was or may have been paid
 * for is only sent if the rules say so. A version that was bought and then replaced by a later one is never sent. Returns
 * `undefined` if the row stays as it is, or continues from the journal.
 */
export function decideRow(row: Row, state: RowState | undefined, rules: ManifestRules): TaskSpec | undefined {
  const status = state?.status ?? 'open';
  switch (status) {
    case 'open':
      return state?.isReplaced(row) === true ? undefined : begin(row, rules, state);
    case 'completed':
      return isRedone(row, state, rules) ? { what: 'send', reopen: 'redo' } : undefined;
    default:
      return isAsked(row, state, rules) ? again(row, rules) : undefined;
  }
}

/** Whether an invalid row fails as such: not if it was sent when it was valid, nor if it has ended. */
export function failsAsInvalid(state: Pick<RowState, 'status'> | undefined): boolean {
  return state === undefined || state.status === 'open';
}

function begin(row: Row, rules: ManifestRules, opened?: RowState): TaskSpec {
  const { prior, jobId } = row;
  const isFree = isRead(row);
  if (!isFree && rules.mustHold?.(row.id, row.row) === true && !rules.retry.has('unknown'))
    return { what: 'hold', code: 'unknown' };
  if (jobId !== undefined) return { what: 'poll', jobId };
  if (prior === undefined || prior.paid === 'no' || (isFree && prior.code === 'unknown'))
    return { what: 'send' };
  if (prior.code === 'download' && prior.imageUrl !== undefined)
    return { what: 'fetch', imageUrl: prior.imageUrl };
  // It was settled by hand, or an earlier start had the option to send it.
  const isOpened = opened !== undefined && opened.attempts === 0;
  const isWanted = isOpened || (rules.retry.has(prior.code) && !isTakenFromJournal(prior.code));
  return isWanted ? { what: 'send' } : { what: 'hold', code: prior.code };
}

function again(row: Row, rules: ManifestRules): TaskSpec | undefined {
  const task = begin(row, rules);
  return task.what === 'hold' ? undefined : { ...task, reopen: 'retry' };
}

/** Whether a failed row is sent again. An invalid row is always checked again. */
function isAsked(row: Row, state: RowState | undefined, rules: ManifestRules): boolean {
  const status = state?.status ?? 'open';
  if (status === 'invalid-row') return true;
  if (!isEnd(status) || status === 'completed' || isTakenFromJournal(status)) return false;
  const isWanted =
    rules.retry.has(status) || (status === 'unknown' && rules.leftUnknown?.has(row.id) === true);
  return isWanted && state?.isReplaced(row) !== true;
}

/** The job or picture is known, so the row continues from the journal and not from the manifest. */
function isTakenFromJournal(code: FailureCode): boolean {
  return code === 'deadline' || code === 'download';
}

function isRedone(row: Row, state: RowState | undefined, { changed }: ManifestRules): boolean {
  return changed === 'redo' && row.jobId === undefined && asksForOther(row, state);
}

/** Whether a row asks for other than what it was last sent with, or bought with before it was redone. */
export function asksForOther(row: Row, state: RowState | undefined): boolean {
  return state !== undefined && sentAs(row, state) === undefined;
}

/** The hash with which the row's request was sent: its own, or that of another way to write it. */
export function sentAs(row: RowHashes, state: RowState | undefined): string | undefined {
  if (state !== undefined) for (const hash of hashesOf(row)) if (state.sameContent(hash)) return hash;
  return undefined;
}

/** Whether a row of a redo manifest rejects a purchase that is not the latest one, because the row was redone since. */
export function isOutdated(row: Row, state: RowState | undefined): boolean {
  const attempt = rejectedAttempt(row);
  return attempt !== undefined && attempt !== state?.attempts;
}

/** Whether this start would send the row, but a later version has replaced the one in this manifest. */
export function isReplacedHere(row: Row, state: RowState | undefined, { retry }: ManifestRules): boolean {
  const status = state?.status ?? 'open';
  const isWanted = status === 'open' || (isEnd(status) && status !== 'completed' && retry.has(status));
  return isWanted && state?.isReplaced(row) === true;
}

/** Whether a row that has ended and stays as it is has other content in the manifest than was sent. */
export function hasChanged(row: Row, state: RowState | undefined, rules: ManifestRules): boolean {
  return !isAsked(row, state, rules) && asksForOther(row, state);
}

/** Each start continues these failures: what they bought may be there, and to get it costs nothing. */
const alwaysContinued: readonly FailureCode[] = ['download', 'deadline'];

/**
 * The failure codes that the words of `--retry` mean: codes, `failed` (all that were not paid for) and `all`. `download` and
 * `deadline` are always among them.
 *
 * @throws {InvalidOptionError} for any other word
 */
export function retryCodes(words: readonly string[]): ReadonlySet<FailureCode> {
  return new Set([...alwaysContinued, ...words.flatMap(codesOf)]);
}

const rowCodes = (Object.keys(failureCodes) as FailureCode[]).filter(
  (code) => failureCodes[code].scope === 'row',
);

function codesOf(word: string): readonly FailureCode[] {
  if (word === 'all') return rowCodes;
  if (word === 'failed') return rowCodes.filter((code) => failureCodes[code].paid === 'no');
  const code = rowCodes.find((known) => known === word);
  if (code === undefined)
    throw new InvalidOptionError('retry', `"${word}" is not a failure code, nor one of failed, all`);
  return [code];
}

/**
 * Whether a row is sent again after a request that may have been accepted: only if the user accepts the risk of paying twice.
 *
 * @param doubles how often this start has sent it once more already
 */
export function retriesPurchase(outcome: Outcome<unknown>, rules: UnknownRules, doubles: number): boolean {
  return outcome.status === 'failed' && outcome.code === 'unknown' && retriesUnknown(rules, doubles);
}

/** The same rule if it is known already that the request may have been accepted. */
export function retriesUnknown({ onUnknown, retries }: UnknownRules, doubles: number): boolean {
  return onUnknown === 'retry' && doubles < retries;
}

interface UnknownRules {
  readonly onUnknown: 'hold' | 'retry';
  readonly retries: number;
}
