import { lastValueFrom } from 'rxjs';
import type { Journal } from '../../runners/batch/journal/journal.js';
import { encodeRecord } from '../../runners/batch/journal/line/record-line.js';
import type { JournalRecord, RecordOf, RunIdentity } from '../../runners/batch/journal/record.js';

export const identity: RunIdentity = { baseUrl: 'https://api.test', lbBaseUrl: '', local: false };

export function start(more: Partial<RecordOf<'start'>> = {}): RecordOf<'start'> {
  return { k: 'start', at: 1_000, version: '0.1.0', identity, manifest: 'edits.csv', settings: {}, ...more };
}

export function stop(exitCode = 0, at = 9_000): RecordOf<'stop'> {
  return { k: 'stop', at, exitCode };
}

export function intent(id: string, more: Partial<RecordOf<'intent'>> = {}): RecordOf<'intent'> {
  return {
    k: 'intent',
    at: 2_000,
    id,
    row: 1,
    hash: '0123456789abcdef01234567',
    kind: 'edit',
    endpoint: 'image-edit',
    mode: 'async',
    attempt: 1,
    price: 87_500,
    resolution: '1k',
    request: { kind: 'edit', input: { images: ['https://pictures.test/a.png'], prompt: 'más luz "{}"' } },
    cells: { id, prompt: 'más luz' },
    columns: {},
    ...more,
  };
}

export function refused(id: string): RecordOf<'refused'> {
  return { k: 'refused', at: 2_100, id, why: 'HTTP 429' };
}

export function accepted(id: string, more: Partial<RecordOf<'accepted'>> = {}): RecordOf<'accepted'> {
  return { k: 'accepted', at: 2_200, id, jobId: `job-${id}`, ...more };
}

export function reply(id: string, more: Partial<RecordOf<'reply'>> = {}): RecordOf<'reply'> {
  return {
    k: 'reply',
    at: 3_000,
    id,
    jobId: `job-${id}`,
    cost: 87_500,
    source: 'reported',
    statusCalls: 2,
    submittedAt: 2_000,
    output: { image_url: 'https://results.test/a.png' },
    ...more,
  };
}

export function completed(id: string, more: object = {}): RecordOf<'outcome'> {
  return {
    k: 'outcome',
    at: 4_000,
    id,
    cost: 87_500,
    source: 'reported',
    statusCalls: 2,
    status: 'completed',
    ...more,
  };
}

export function failed(id: string, code: RowErrorCode, more: object = {}): RecordOf<'outcome'> {
  return {
    k: 'outcome',
    at: 4_000,
    id,
    cost: null,
    source: 'none',
    statusCalls: 1,
    status: 'failed',
    error: { message: `it is ${code}`, code, retryable: false, paid: 'no' },
    ...more,
  };
}
type RowErrorCode = (RecordOf<'outcome'> & { status: 'failed' })['error']['code'];

export function reopen(
  id: string,
  to: 'poll' | 'download' | 'buy',
  why: RecordOf<'reopen'>['why'] = 'retry',
): RecordOf<'reopen'> {
  return { k: 'reopen', at: 5_000, id, why, to };
}

/** A life of five rows that meets every kind of record. */
export function wholeLife(): JournalRecord[] {
  return [
    ...[
      start(),
      intent('a'),
      refused('a'),
      intent('a', { attempt: 2 }),
      accepted('a'),
      intent('b', { row: 2 }),
    ],
    ...[
      reply('a'),
      completed('a'),
      intent('ç"', { row: 3, price: null }),
      failed('b', 'unknown', { source: 'unknown' }),
    ],
    ...[
      accepted('ç"'),
      reopen('b', 'buy'),
      intent('b', { row: 2, attempt: 2 }),
      failed('d', 'invalid-row'),
      stop(6),
    ],
    ...[
      start({ at: 10_000 }),
      reply('ç"'),
      intent('e', { row: 5, takes: 'job', jobId: 'elsewhere', price: 0 }),
    ],
  ];
}

/** The file of a journal that holds these records. */
export function journalFile(records: readonly JournalRecord[]): Buffer {
  return Buffer.concat(records.map((record, index) => encodeRecord(index + 1, record)));
}

/** Resolves once the record is durable. */
export async function append(journal: Journal, record: JournalRecord): Promise<void> {
  await lastValueFrom(journal.append(record));
}

export async function recordsOf(journal: Pick<Journal, 'records'>): Promise<JournalRecord[]> {
  const records: JournalRecord[] = [];
  for await (const record of journal.records()) records.push(record);
  return records;
}
