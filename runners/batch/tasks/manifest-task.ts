import type { Row } from '../manifest/manifest-row.js';
import type { Decision } from '../row/decide-row.js';
import { factsOf, type Task } from '../row/task.js';

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
