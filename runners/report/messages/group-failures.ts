import { failureCodes, type FailureCode, type Paid } from '../../../src/contract/failure-code.js';
import { editLabel } from './edit-prices.js';

/** The limit of separate causes; further ones are counted together, because a long list helps nobody and takes memory. */
const maxGroups = 200;
const idsKept = 60;

/** A failed row, as far as its file or event describes it. */
export interface RowFailure {
  readonly id: string;
  readonly code: FailureCode;
  readonly message: string | undefined;
  /** Its job, which the message may name. */
  readonly jobId?: string | undefined;
  readonly httpStatus?: number | undefined;
  /** Set if the row's advice differs from its code's, as for rows that were settled by hand. */
  readonly paid?: Paid | undefined;
  /** When it failed, ms since the epoch. */
  readonly at?: number | undefined;
  /** The manifest that it failed with, if it is not the run's first. */
  readonly manifest?: string | undefined;
  /** For an edit: it decides the price of sending the row again. */
  readonly resolution?: string | undefined;
  /** Its endpoint, which may have a price of its own. */
  readonly endpoint?: string | undefined;
}

/** Rows of one manifest that failed for the same cause. */
export interface FailureGroup {
  readonly code: FailureCode;
  readonly httpStatus?: number;
  readonly paid: Paid;
  /** The message of all its rows; `undefined` if they differ. */
  readonly message: string | undefined;
  /** The message with `…` where the rows differ. */
  readonly wording: string;
  readonly count: number;
  /** Their manifest, if it is not the run's first. */
  readonly manifest?: string;
  readonly ids: readonly string[];
  /** When the first and the last of them failed, ms since the epoch. */
  readonly firstAt?: number;
  readonly lastAt?: number;
  /** How many of them are edits, by the label of their price. */
  readonly edits: ReadonlyMap<string, number>;
}

type Growing = { -readonly [K in keyof FailureGroup]: FailureGroup[K] } & {
  ids: string[];
  edits: Map<string, number>;
};

/** Groups failures as they arrive: by manifest, code, HTTP status, and message without the parts that differ from row to row. */
export function groupFailures() {
  const places = new Map<string, number>();
  const groups: Growing[] = [];
  const wordingOf = rememberedCauses();
  return {
    /** @returns the index of its group in `inOrder`, from 0 */
    take(failure: RowFailure): number {
      const { code, httpStatus, message, manifest, jobId, paid = failureCodes[code].paid } = failure;
      const wording = wordingOf(message ?? '', failure.id, jobId);
      const cause = `${code} ${paid} ${httpStatus ?? ''} ${manifest ?? ''} ${wording}`;
      const isFull = places.size >= maxGroups && !places.has(cause);
      const key = isFull ? `${code} ${paid} ${manifest ?? ''} others` : cause;
      const place = places.get(key) ?? groups.length;
      places.set(key, place);
      const group = (groups[place] ??= {
        code,
        paid,
        ...(httpStatus !== undefined && !isFull && { httpStatus }),
        ...(manifest !== undefined && { manifest }),
        message: isFull ? undefined : message,
        wording: isFull ? 'various causes' : wording,
        count: 0,
        ids: [],
        edits: new Map(),
      });
      if (group.message !== message) group.message = undefined;
      add(group, failure);
      return place;
    },
    /** The most frequent first. */
    list: (): FailureGroup[] => [...groups].sort((one, other) => other.count - one.count),
    /** In the order of their first failure. */
    inOrder: (): readonly FailureGroup[] => groups,
  };
}

/** `causeOf` with a cache for messages that many rows share: it takes 25 µs. */
function rememberedCauses(): (message: string, id: string, jobId?: string) => string {
  const known = new Map<string, string>();
  return (message, id, jobId = '') => {
    const isNamed =
      (id.length >= shortestId && message.includes(id)) || (jobId !== '' && message.includes(jobId));
    if (isNamed) return causeOf(message, id, jobId);
    const wording = known.get(message) ?? causeOf(message);
    if (known.size >= maxGroups) known.clear();
    known.set(message, wording);
    return wording;
  };
}

function add(group: Growing, { id, at, endpoint = '', resolution }: RowFailure): void {
  group.count += 1;
  if (group.ids.length < idsKept) group.ids.push(id);
  if (at !== undefined && at > 0) {
    group.firstAt = Math.min(group.firstAt ?? at, at);
    group.lastAt = Math.max(group.lastAt ?? at, at);
  }
  if (resolution === undefined) return;
  const label = editLabel(endpoint, resolution);
  group.edits.set(label, (group.edits.get(label) ?? 0) + 1);
}

const shortestId = 3;

/**
 * The wording of an error without the parts that differ from row to row: rows with the same wording failed for the
 * same cause. The terminal and the report group by it.
 *
 * @param id the row's id, which a message may contain
 * @param jobId the id of its job
 */
export function causeOf(message: string, id = '', jobId = ''): string {
  return withoutJob(withoutId(message.slice(0, 600).replace(placeOfRow, '$1'), id), jobId)
    .replace(colours, '')
    .replace(/\b(https?:\/\/[^/\s"'<>]+)[^\s"'<>]*?(?=[.,;:!?)]*(?:[\s"'<>]|$))/gi, '$1/…')
    .replace(/\bdata:[\w.+-]+\/[\w.+-]+;base64,[\w+/=]*/g, 'data:…')
    .replace(/\b(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{6,}\b/gi, '…')
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{8,}\b/gi, '…')
    .replace(/(?<![a-z\d]|HTTP )(?![45]\d\d [A-Z])\d+(?:[.,]\d+)*/gi, '…')
    .replace(/…(?:[-:./]…)+/g, '…')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The place of an invalid row; each of its problems begins with it. */
const placeOfRow = /(^|; )line \d+ \(row \d+, id "(?:[^"\\]|\\.)*"\)[,:] /g;

/** Escape sequences that colour text in a terminal. */
const colours = /\u001b\[[0-?]*[ -/]*[@-~]/g;

/** Replaces an id only as a whole word of some length, because an id "a" occurs in half of all messages. */
function withoutId(message: string, id: string): string {
  if (id.length < shortestId || !message.includes(id)) return message;
  return message.replace(new RegExp(`(?<![\\w-])${escaped(id)}(?![\\w-])`, 'g'), '…');
}

/** A job's id may be a word of any message if it is short: such a one is replaced only where it is named as a job. */
function withoutJob(message: string, jobId: string): string {
  if (jobId === '' || !message.includes(jobId)) return message;
  const before = jobId.length < shortestId ? '(?<=\\bjob "?)' : '(?<![\\w-])';
  return message.replace(new RegExp(`${before}${escaped(jobId)}(?![\\w-])`, 'gi'), '…');
}

function escaped(text: string): string {
  return text.replace(/[^\w-]/g, '\\$&');
}
