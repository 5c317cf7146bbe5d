import type { Journal } from '../journal/journal.js';
import type { IntentRecord, OutcomeRecord, RecordOf } from '../journal/record.js';

/** A purchase of a row that may have been made, and that the row did not wait for: it was bought again since. */
export interface HeldAttempt {
  readonly intent: IntentRecord;
  readonly outcome: OutcomeRecord;
  /** A person has decided on it. */
  readonly freed?: RecordOf<'freed'>;
}

/** The purchases of a row that ended as unknown before it was bought again, by their attempt; one pass over the journal. */
export async function heldAttempts(
  journal: Pick<Journal, 'records'>,
  id: string,
): Promise<ReadonlyMap<number, HeldAttempt>> {
  const ended = new Map<number, HeldAttempt>();
  const held = new Map<number, HeldAttempt>();
  let intent: IntentRecord | undefined;
  for await (const record of journal.records()) {
    if (!('id' in record) || record.id !== id) continue;
    if (record.k === 'intent') intent = record;
    if (record.k === 'outcome' && record.source === 'unknown' && intent !== undefined)
      ended.set(attemptOf(record, intent), { intent, outcome: record });
    if (record.k === 'reopen') {
      // What is polled again, or was settled, is held no more.
      if (record.voids === undefined && record.to === 'buy') for (const one of ended) held.set(...one);
      ended.clear();
    }
    const known = record.k === 'freed' ? held.get(record.attempt) : undefined;
    if (record.k === 'freed' && known !== undefined) held.set(record.attempt, { ...known, freed: record });
  }
  return held;
}

function attemptOf({ purchase }: OutcomeRecord, intent: IntentRecord): number {
  return purchase?.attempt ?? intent.attempt;
}

/** What a person has decided on such a purchase: `costUsd` in millionths of a dollar, `undefined` where it was never made. */
export function freedRecord(
  { intent, outcome }: HeldAttempt,
  { at, cost }: { readonly at: number; readonly cost: number | undefined },
): RecordOf<'freed'> {
  const { id, row, kind, endpoint, resolution, cells, columns } = intent;
  const attempt = attemptOf(outcome, intent);
  const jobId = outcome.purchase?.jobId;
  return {
    ...{ k: 'freed', at, id, row, kind, endpoint, attempt, price: outcome.cost },
    ...(resolution !== undefined && { resolution }),
    ...(jobId !== undefined && { jobId }),
    ...(cost === undefined ? { cost: null, source: 'none' } : { cost, source: 'reported' }),
    ...{ cells, columns },
  };
}
