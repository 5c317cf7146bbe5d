import type { FailureCode } from '../../../../src/contract/failure-code.js';
import { MillraceError } from '../../../../src/contract/millrace-error.js';
import type { Journal } from '../../journal/journal.js';
import { isSettledByHand, type JournalRecord, type RunIdentity } from '../../journal/record.js';
import { isFree } from '../../row/left-rows.js';

export interface HeldIdentity {
  readonly identity: RunIdentity;
  /** The hosts of earlier starts that this start replaces; empty if they stay the same. */
  readonly left: readonly string[];
}

/**
 * The identity of this start, including hosts that only earlier starts needed. Another host is allowed if no request of the run
 * was ever accepted, for example because the host was misspelt: the earlier service then has nothing of this run.
 *
 * @throws {MillraceError} `usage` if the start would mix a rehearsal with a real run, or two services.
 */
export async function checkIdentity(
  journal: Pick<Journal, 'recovered' | 'records'>,
  now: RunIdentity,
  out: string,
): Promise<HeldIdentity> {
  const { identity: earlier } = journal.recovered;
  if (earlier === undefined) return { identity: now, left: [] };
  if (earlier.local !== now.local)
    throw refused(out, earlier.local ? 'a rehearsal with the emulator' : 'a run against a real service', now);
  if (now.local) return { identity: now, left: [] };
  const differs = (['baseUrl', 'lbBaseUrl'] as const).filter(
    (host) => earlier[host] !== '' && now[host] !== '' && earlier[host] !== now[host],
  );
  const [host] = differs;
  if (host !== undefined && !(await isUntouched(journal)))
    throw refused(out, `a run against ${earlier[host]}`, now, now[host]);
  const identity = {
    local: false,
    baseUrl: now.baseUrl || earlier.baseUrl,
    lbBaseUrl: now.lbBaseUrl || earlier.lbBaseUrl,
  };
  return { identity, left: differs.map((name) => earlier[name]) };
}

/** Whether no request of the run was accepted, or may have been. */
async function isUntouched(journal: Pick<Journal, 'recovered' | 'records'>): Promise<boolean> {
  const { pending, repairs } = journal.recovered;
  if (repairs > 0 || [...pending.values()].some((row) => !isFree(row))) return false;
  for await (const record of journal.records()) if (mayHaveBought(record)) return false;
  return true;
}

const neverAccepted: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'invalid-row',
  'rejected',
  'route-not-found',
  'transport',
  'malformed-reply',
]);

/** A row that a person has settled counts as well: `settle --undo` may take that back. */
function mayHaveBought(record: JournalRecord): boolean {
  if (record.k === 'outcome') return record.status === 'completed' || !neverAccepted.has(record.error.code);
  return record.k === 'accepted' || record.k === 'reply' || isSettledByHand(record);
}

function refused(
  out: string,
  was: string,
  now: RunIdentity,
  host = now.baseUrl || now.lbBaseUrl,
): MillraceError {
  const is = now.local ? 'the emulator' : host || 'a real service';
  const message = `The folder ${out} holds ${was}, and this start is against ${is}: nothing was sent. Choose another --out, or continue as it was begun.`;
  return new MillraceError('usage', message);
}
