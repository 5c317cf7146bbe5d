import { join } from 'node:path';
import { isPlainObject } from '../../../src/contract/bounded-json.js';
import type { Disk, DiskFile } from '../../batch/disk/disk.js';
import { readLines } from '../../batch/disk/read-file.js';
import type { PendingStatus } from '../../batch/row/row-status.js';
import { numberOr, objectIn, parseObject, textOr } from '../read/json-object.js';
import { openIfThere, recordKind } from '../read/read-jsonl.js';

/** A row that has begun and has not ended. */
export interface TailRow {
  readonly id: string;
  readonly status: PendingStatus;
  /** When its latest request was sent, ms since the epoch. */
  readonly since: number;
  /** The journal line with the whole row; absent if it is no longer known. */
  readonly intent?: Buffer;
}

/** For ids that are too long for this many bytes, the whole line is read. */
const headBytes = 512;

/**
 * Follows a journal that another process writes: each look reads what was added since the last one. It keeps rows in flight,
 * not ended ones.
 */
export class JournalTail {
  readonly rows = new Map<string, TailRow>();
  starts = 0;
  /** How the latest start ended; `undefined` while it runs, and after a crash. */
  exitCode: number | undefined;
  readonly #disk: Disk;
  readonly #path: string;
  #offset = 0;
  #head: Buffer = Buffer.alloc(0);

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#path = join(folder, 'journal.jsonl');
  }

  /** Reads the new records. A journal that was replaced is read from its beginning. */
  async look(): Promise<void> {
    const file = await openIfThere(this.#disk, this.#path);
    if (file === undefined) return this.#forget(Buffer.alloc(0));
    try {
      await this.#checkHead(file);
      for await (const line of readLines(file, { from: this.#offset })) {
        if (!line.ended) return;
        this.#offset = line.offset + line.bytes.length + 1;
        this.#take(line.bytes);
      }
    } finally {
      await file.close();
    }
  }

  async #checkHead(file: DiskFile): Promise<void> {
    const head = Buffer.alloc(headBytes);
    const now = head.subarray(0, await file.read(head, 0));
    const isSame =
      (await file.size()) >= this.#offset && now.subarray(0, this.#head.length).equals(this.#head);
    if (!isSame) this.#forget(now);
    else if (now.length > this.#head.length) this.#head = now;
  }

  #forget(head: Buffer): void {
    this.rows.clear();
    this.starts = 0;
    this.exitCode = undefined;
    this.#offset = 0;
    this.#head = head;
  }

  #take(line: Buffer): void {
    const kind = recordKind(line);
    if (kind === 'start') {
      this.starts++;
      this.exitCode = undefined;
    } else if (kind === 'stop')
      this.exitCode = numberOr(parseObject(line.toString())?.['exitCode'], undefined);
    else if (kind === 'refused' || kind === 'outcome') this.rows.delete(idOf(line));
    else if (kind === 'intent')
      this.#put(idOf(line), { status: 'sent', since: atOf(line), intent: Buffer.from(line) });
    else if (kind === 'accepted') this.#move(line, 'accepted');
    else if (kind === 'reply') this.#move(line, 'replied');
    else if (kind === 'reopen') this.#reopen(line);
  }

  #put(id: string, row: Omit<TailRow, 'id'>): void {
    this.rows.delete(id);
    this.rows.set(id, { id, ...row });
  }

  #move(line: Buffer, status: TailRow['status']): void {
    const id = idOf(line);
    this.rows.set(id, { since: atOf(line), ...this.rows.get(id), id, status });
  }

  /** The next intent of a row that is bought again is still to come. */
  #reopen(line: Buffer): void {
    const to = parseObject(line.toString())?.['to'];
    if (to === 'poll') this.#move(line, 'accepted');
    else if (to === 'download') this.#move(line, 'replied');
  }
}

/** The id of a record as the journal writes it, which begins with number, kind, time and id. */
function idOf(line: Buffer): string {
  const quoted = /"id":("(?:[^"\\]|\\.)*")/.exec(line.toString('utf8', 0, headBytes))?.[1];
  const id: unknown = quoted === undefined ? parseObject(line.toString())?.['id'] : JSON.parse(quoted);
  return typeof id === 'string' ? id : '';
}

function atOf(line: Buffer): number {
  return Number(/"at":(\d+)/.exec(line.toString('latin1', 0, 128))?.[1] ?? 0);
}

/** The row's request in one line. */
export function requestOf({ intent }: TailRow): string {
  const request = objectIn(parseObject(intent?.toString() ?? '') ?? {}, 'request');
  const input = isPlainObject(request['input']) ? request['input'] : undefined;
  if (typeof input?.['prompt'] === 'string') return input['prompt'].slice(0, 200);
  if (typeof request['route'] === 'string') return `${textOr(request['method'])} ${request['route']}`.trim();
  return input === undefined ? '' : JSON.stringify(input).slice(0, 200);
}
