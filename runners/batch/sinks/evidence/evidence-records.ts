import { toMicroDollars } from '../../../../src/contract/micro-dollars.js';
import { completedRecord, failedRecord, purchaseFacts } from '../../row/records-of.js';
import { isPending, type RowStatus } from '../../row/row-status.js';
import type {
  CostSource,
  IntentRecord,
  JournalRecord,
  OutcomeRecord,
  ReplyRecord,
  SavedImage,
} from '../../journal/record.js';
import type { RowRecords } from '../../journal/journal.js';
import type { LostRecords } from '../../journal/repair-journal.js';
import type { RowKind, RowRequest } from '../../manifest/manifest-row.js';
import type { CostFacts, FilePurchase, WholeFailure, WholeResult } from './file-purchases.js';

/** What the journal knows about a row. */
export interface KnownRow {
  readonly status: RowStatus;
  /** The number of its POSTs so far; the attempt in flight is the last of them. */
  readonly attempts: number;
}

/** The lines about one attempt of a row. */
interface Attempt {
  result?: WholeResult;
  failure?: WholeFailure;
  cost?: CostFacts;
}

/** Collects facts from the files about purchases that the journal has lost, by row and attempt. */
export class Evidence {
  private readonly rows = new Map<string, Map<number, Attempt>>();
  /** By endpoint: the kind of its rows, which costs.csv lacks. */
  private readonly kinds: Map<string, RowKind>;
  lastRow = 0;

  /** @param bought what the journal has bought */
  constructor(bought: readonly Readonly<Record<'endpoint' | 'kind', string>>[]) {
    this.kinds = new Map(
      bought.flatMap(({ endpoint, kind }) => (isKind(kind) ? [[endpoint, kind] as const] : [])),
    );
  }

  add(purchase: FilePurchase): void {
    const attempts = this.rows.get(purchase.id) ?? new Map<number, Attempt>();
    this.rows.set(purchase.id, attempts);
    const attempt = attempts.get(purchase.attempt) ?? {};
    attempts.set(purchase.attempt, attempt);
    if (purchase.kind === 'cost') attempt.cost = purchase.cost;
    else if (purchase.kind === 'failure') attempt.failure = purchase.failure;
    else attempt.result = purchase.result;
    this.lastRow = Math.max(this.lastRow, rowOf(attempt));
    const { endpoint, kind } = attempt.result ?? attempt.failure?.millrace ?? {};
    if (endpoint !== undefined && kind) this.kinds.set(endpoint, kind);
  }

  get size(): number {
    return this.rows.size;
  }

  /**
   * The journal records that restore these purchases: completed if the result line is complete, failed if nothing was
   * paid, and held as `unknown` otherwise. If the journal has the purchase in flight, only its end is added: a second
   * intent would count it twice.
   *
   * @param stateOf what the journal knows about a row
   */
  *records(stateOf: (id: string) => KnownRow | undefined): Generator<JournalRecord, void, void> {
    for (const [id, attempts] of this.rows) {
      const known = stateOf(id);
      let status = known?.status;
      for (const [attempt, facts] of [...attempts].sort(([a], [b]) => a - b)) {
        const ended = recordsOf(id, attempt, facts, this.kinds);
        const at = ended.at(-1)?.at ?? 0;
        // An open row may still have a reply without its intent; because of `settle` the tally counts it anew.
        const why = status === 'completed' ? 'redo' : status === 'open' ? 'settle' : 'retry';
        // A later attempt was sent only because this one was refused; without this record it would be in costs.csv as
        // unknown.
        if (status === 'sent' && attempt > (known?.attempts ?? 0)) {
          yield { k: 'refused', at, id, why: 'a later attempt stands in the files' };
          status = 'open';
        }
        const isInFlight = status !== undefined && isPending(status) && attempt === known?.attempts;
        if (isInFlight) yield* ended.slice(status === 'replied' ? -1 : 1);
        else {
          if (status !== undefined) yield { k: 'reopen', at, id, why, to: 'buy' };
          yield* ended;
        }
        status = facts.result === undefined ? 'unknown' : 'completed';
      }
    }
  }
}

/** The lost records of a row whose end the journal has, restored from its line. */
export function lostRecords(line: FilePurchase, { intent, reply, outcome }: RowRecords): LostRecords {
  const { attempt } = line;
  const [sent, replied] = recordsOf(line.id, attempt, line);
  const { cost: price, source, purchase } = outcome ?? {};
  const { resolution } = purchase ?? {};
  return {
    attempt,
    intent: intent ? undefined : ({ ...sent, price, resolution } as IntentRecord),
    reply: reply || line.kind !== 'result' ? undefined : ({ ...replied, source } as ReplyRecord),
  };
}

function rowOf({ result, failure, cost }: Attempt): number {
  return result?.row ?? failure?.millrace.row ?? cost?.row ?? 0;
}

type Kinds = ReadonlyMap<string, RowKind>;

function isKind(kind: string): kind is RowKind {
  return kind === 'edit' || kind === 'job' || kind === 'route';
}

function recordsOf(id: string, attempt: number, facts: Attempt, kinds?: Kinds): JournalRecord[] {
  const intent = intentOf(id, attempt, facts, kinds);
  if (facts.result !== undefined) return [intent, ...completed(id, facts.result, facts)];
  return [intent, failedOutcome(id, attempt, facts)];
}

function intentOf(
  id: string,
  attempt: number,
  { result, failure, cost }: Attempt,
  kinds?: Kinds,
): IntentRecord {
  const known = result ?? failure?.millrace;
  const endpoint = known?.endpoint ?? cost?.endpoint ?? '';
  const resolution = cost?.resolution ?? '';
  const likely = resolution === '' ? (endpoint === '' ? 'route' : 'job') : 'edit';
  const kind = known?.kind ?? kinds?.get(endpoint) ?? likely;
  const request = { ...(result?.request ?? { input: {} }), kind } as RowRequest;
  const at = result === undefined ? (cost?.settledAt ?? settledAt(failure)) : Date.parse(result.submittedAt);
  return {
    k: 'intent',
    at,
    id,
    row: rowOf({ ...(result && { result }), ...(failure && { failure }), ...(cost && { cost }) }),
    // The hash of the content that was sent is not known; with an empty one the row counts as unchanged.
    hash: '',
    kind,
    endpoint,
    mode: 'sync',
    attempt,
    price: micros(cost?.cost),
    ...(resolution !== '' && { resolution }),
    request,
    cells: cellsOf(id, result, failure),
    columns: result?.columns ?? {},
  };
}

function cellsOf(id: string, result?: WholeResult, failure?: WholeFailure): Record<string, unknown> {
  const own = Object.entries(failure ?? {}).filter(([name]) => name !== 'error' && name !== 'millrace');
  return { id, ...result?.columns, ...Object.fromEntries(own) };
}

function completed(id: string, result: WholeResult, { cost: booked }: Attempt): JournalRecord[] {
  const { jobId, output, image, files, delayTime, executionTime, attempts, endpoint, row } = result;
  const at = Date.parse(result.settledAt);
  const cost = micros(result.cost);
  const source: CostSource = booked?.source ?? (cost === null ? 'none' : 'reported');
  const saved = typeof image?.['path'] === 'string' ? (image as unknown as SavedImage) : undefined;
  const url = image?.['url'];
  const reply: ReplyRecord = {
    k: 'reply',
    at,
    id,
    cost,
    source,
    statusCalls: 0,
    submittedAt: Date.parse(result.submittedAt),
    output,
    ...(jobId !== undefined && { jobId }),
    ...(delayTime !== undefined && { delayTime }),
    ...(executionTime !== undefined && { executionTime }),
    ...(typeof url === 'string' && { imageUrl: url }),
  };
  const bought = { row, endpoint, resolution: booked?.resolution || undefined };
  const bookedAs = { attempt: attempts, jobId, settledAt: booked?.settledAt ?? at };
  return [
    reply,
    completedRecord(reply, {
      at,
      ...(saved && { image: saved }),
      ...(files && { files }),
      ...(source !== 'none' && { purchase: purchaseFacts(bought, bookedAs) }),
    }),
  ];
}

function failedOutcome(id: string, attempt: number, facts: Attempt): OutcomeRecord {
  const { failure, cost } = facts;
  const at = cost?.settledAt ?? settledAt(failure);
  const jobId = failure?.millrace.jobId ?? (cost?.jobId || undefined);
  const isUnpaid = failure?.error.paid === 'no';
  const source: CostSource = cost?.source ?? (isUnpaid ? 'none' : 'unknown');
  const endpoint = failure?.millrace.endpoint ?? cost?.endpoint ?? '';
  const bought = { row: rowOf(facts), endpoint, resolution: cost?.resolution || undefined };
  return failedRecord(id, isUnpaid ? failure.error : heldError(failure, jobId), {
    at,
    cost: micros(cost?.cost),
    source,
    statusCalls: 0,
    jobId,
    ...(source !== 'none' && { purchase: purchaseFacts(bought, { attempt, jobId, settledAt: at }) }),
  });
}

function heldError(
  failure: WholeFailure | undefined,
  jobId: string | undefined,
): WholeFailure['error'] & { code: 'unknown' } {
  const was =
    failure === undefined
      ? 'it stands in costs.csv'
      : `it failed as ${failure.error.code}: ${failure.error.message}`;
  const job = jobId === undefined ? '' : `, as job ${jobId}`;
  const message = `the journal has lost its purchase (${was}${job}): it is not sent again`;
  return { code: 'unknown', message, retryable: false, paid: 'maybe' };
}

function settledAt(failure: WholeFailure | undefined): number {
  return failure === undefined ? 0 : Date.parse(failure.millrace.settledAt);
}

function micros(usd: number | null | undefined): number | null {
  return usd === null || usd === undefined ? null : toMicroDollars(usd);
}
