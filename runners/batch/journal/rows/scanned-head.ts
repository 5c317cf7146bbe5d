import { failureCodes, type FailureCode } from '../../../../src/contract/failure-code.js';
import { nothing } from '../../row/accounts.js';
import type { RowOrigin } from '../../manifest/columns/column-value.js';
import { endOfOutcome, originOf, type RecordHead, type RowRecord } from '../../row/record-head.js';
import { isEnd, statusBytes, type EndStatus } from '../../row/row-status.js';
import type { PurchaseKind } from '../../row/totals.js';
import { field, decodeRecord } from '../line/record-line.js';
import type { HeadScanner } from '../line/head-scanner.js';
import { unknownKind, unknownWord } from '../journal-error.js';
import type { CostSource } from '../record.js';

/** The words that a head may contain, the most frequent ones first. */
const sources: readonly CostSource[] = ['reported', 'estimated', 'unknown', 'none'];
const takings = ['', 'job', 'picture'] as const;
const ends = ['completed', 'failed'] as const;
const failures = Object.keys(failureCodes) as FailureCode[];
const kinds: ReadonlySet<string> = new Set<RowRecord['k']>([
  ...(['intent', 'refused', 'accepted', 'reply', 'outcome', 'reopen', 'freed'] as const),
]);

/**
 * The record of a row, which was not read from a journal's bytes.
 *
 * @throws {JournalError} `journal-newer` if this version does not know its kind or its failure code
 */
export function knownRecord(record: RowRecord): RowRecord {
  const { k } = record;
  if (!kinds.has(k)) throw unknownKind(k);
  const end = record.k === 'outcome' ? endOfOutcome(record) : 'completed';
  if (!isEnd(end)) throw unknownWord('failure code', end);
  return record;
}

/** The head of a record, read from its bytes: each field is read when it is used. */
export class ScannedHead implements RecordHead {
  k: RowRecord['k'] = 'intent';
  private head: HeadScanner | undefined;
  private latest = nothing;

  /** Selects a record. Valid until the scanner reads another one. */
  read(k: string, head: HeadScanner): RowRecord['k'] {
    if (!kinds.has(k)) throw unknownKind(k);
    this.head = head;
    return (this.k = k as RowRecord['k']);
  }

  get takes(): RecordHead['takes'] {
    return this.word(field.takes, takings);
  }

  get end(): EndStatus {
    return this.word(field.status, ends) === 'failed' ? this.failure() : 'completed';
  }

  get to(): RecordHead['to'] {
    return this.word(field.to);
  }

  get why(): string {
    return this.word(field.why);
  }

  get source(): CostSource {
    return this.word(field.source, sources);
  }

  get cost(): number {
    return this.number(field.cost);
  }

  get price(): number {
    return this.number(field.price);
  }

  get statusCalls(): number {
    return this.number(field.statusCalls);
  }

  /** Rows that buy the same mostly follow each other: then the same object is returned, without new strings. */
  get purchase(): PurchaseKind | undefined {
    const { kind, endpoint, resolution } = this.latest;
    const found = {
      kind: this.word(field.kind, [kind]),
      endpoint: this.word(field.endpoint, [endpoint]),
      resolution: this.word(field.resolution, [resolution]),
    };
    if (this.k === 'outcome' && found.endpoint === '') return undefined;
    const isSame = found.kind === kind && found.endpoint === endpoint && found.resolution === resolution;
    if (!isSame) this.latest = found;
    return this.latest;
  }

  /** Decodes the whole record, which takes ten times as long: use it only if a run adds up by columns. */
  get origin(): RowOrigin | undefined {
    return this.head === undefined ? undefined : originOf(decodeRecord(this.head.line).record as RowRecord);
  }

  private failure(): FailureCode {
    const code = this.word(field.code, failures);
    if (!Object.hasOwn(statusBytes, code)) throw unknownWord('failure code', code);
    return code;
  }

  private word<W extends string>(place: number, words?: readonly W[]): W {
    return this.head?.word(place, words) ?? ('' as W);
  }

  private number(place: number): number {
    return this.head?.number(place) ?? Number.NaN;
  }
}
