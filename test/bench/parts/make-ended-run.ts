import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeDisk } from '../../../runners/batch/disk/node-disk.js';
import { refreshSnapshot } from '../../../runners/batch/journal/recovered-journal.js';
import { bytesASnapshot, snapshotPath } from '../../../runners/batch/journal/journal-snapshot.js';
import { encodeRecord } from '../../../runners/batch/journal/line/record-line.js';
import type { JournalRecord } from '../../../runners/batch/journal/record.js';
import { requestHash } from '../../../runners/batch/manifest/request-hash.js';

/** A run whose rows have all completed, as it lies on the disk. */
export interface EndedRun {
  readonly manifest: string;
  readonly out: string;
  readonly baseUrl: string;
  /** What a run keeps of its journal while it goes on, as the last one that was kept before the last row. */
  readonly snapshot: Buffer;
  /** Ends the journal as a start does that is killed. */
  readonly kill: () => Promise<void>;
}

const baseUrl = 'http://127.0.0.1:9';
const inFlight = 50;
/** At most such a share of a long journal lies behind its last snapshot, and of a short one as many rows. */
const mostBehind = { share: 1 / 8, rows: bytesASnapshot / 1_150 };

/**
 * Makes the manifest of a run of jobs, and its journal, byte by byte as 50 at a time leave it against a service that answers at once.
 * A run over that service would take an hour for a million of them.
 */
export async function makeEndedRun(folder: string, rows: number): Promise<EndedRun> {
  const [manifest, out] = [join(folder, `jobs-${rows}.csv`), join(folder, `jobs-${rows}`)];
  await mkdir(out);
  const journal = join(out, 'journal.jsonl');
  const [lines, records] = [new Lines(manifest), new Records(journal)];
  lines.write('id,endpoint,input.image,input.prompt,input.resolution\n');
  records.put(startOf(manifest, out));
  const kept = Math.max(rows - Math.max(mostBehind.share * rows, mostBehind.rows), 0);
  for (let first = 0; first < rows; first += inFlight) {
    if (first <= kept && kept < first + inFlight) await keepSnapshot(records, out);
    const group = Array.from({ length: Math.min(inFlight, rows - first) }, (_, place) => first + place);
    for (const row of group) lines.write(lineOf(row));
    writeGroup(records, group);
  }
  records.put({ k: 'stop', at: records.at, exitCode: 0 });
  lines.close();
  records.close();
  const snapshot = await readFile(snapshotPath(journal));
  await rm(snapshotPath(journal));
  const kill = () => appendStart(journal, startOf(manifest, out));
  return { manifest, out, baseUrl, snapshot, kill };
}

async function keepSnapshot(records: Records, out: string): Promise<void> {
  records.flush();
  await refreshSnapshot(nodeDisk, out, { every: 1 });
}

/** Rows that are sent together, and end together. */
function writeGroup(records: Records, group: readonly number[]): void {
  for (const row of group) records.put(intentOf(row, (records.at += 1)));
  for (const row of group) records.put({ k: 'accepted', at: records.at, id: idOf(row), jobId: jobIdOf(row) });
  records.at += 80;
  for (const row of group) putEnd(records, row, (records.at += 1));
}

/** The fields of each record stand as a run writes them: what a start reads of one ends behind the last that it needs. */
function putEnd(records: Records, row: number, at: number): void {
  const [id, jobId, submittedAt] = [idOf(row), jobIdOf(row), at - 100];
  const cost = { cost: null, source: 'estimated' } as const;
  const times = { delayTime: 0, executionTime: 1 };
  const asked = { statusCalls: 1, submittedAt };
  records.put({ k: 'reply', at, id, jobId, ...cost, ...times, ...asked, output: { ok: true } });
  const purchase = { row: row + 1, attempt: 1, endpoint, settledAt: at, jobId };
  records.put({ k: 'outcome', at, id, ...cost, ...asked, status: 'completed', purchase });
}

const endpoint = 'bench';
const idOf = (row: number) => `row-${row}`;
const jobIdOf = (row: number) => `job-${row + 1}`;
const inputOf = (row: number) => ({
  image: `https://pictures.example/${row}.png`,
  prompt: `make chair ${row} blue, in soft light`,
  resolution: '1k',
});

function lineOf(row: number): string {
  const { image, prompt, resolution } = inputOf(row);
  return `${idOf(row)},${endpoint},${image},"${prompt}",${resolution}\n`;
}

function intentOf(row: number, at: number): JournalRecord {
  const [id, input] = [idOf(row), inputOf(row)];
  const request = { kind: 'job', input } as const;
  const cells = Object.fromEntries(Object.entries(input).map(([name, value]) => [`input.${name}`, value]));
  return {
    k: 'intent',
    at,
    id,
    row: row + 1,
    hash: requestHash({ kind: 'job', endpoint, request }),
    kind: 'job',
    endpoint,
    mode: 'async',
    attempt: 1,
    price: null,
    request,
    cells: { id, endpoint, ...cells },
    columns: {},
  };
}

function startOf(manifest: string, out: string): JournalRecord {
  const identity = { baseUrl, lbBaseUrl: '', local: false };
  const settings = { out, concurrency: inFlight, retries: 4 };
  return { k: 'start', at: Date.UTC(2026, 10, 23), version: '0.1.0', identity, manifest, settings };
}

/** Behind the last record of the journal, whichever number that has. */
async function appendStart(journal: string, start: JournalRecord): Promise<void> {
  const tail = Buffer.alloc(1 << 12);
  const file = await open(journal, 'r+');
  const { size } = await file.stat();
  const { bytesRead } = await file.read(tail, 0, tail.length, Math.max(size - tail.length, 0));
  const last = tail.toString('utf8', 0, bytesRead).trimEnd().split('\n').at(-1) ?? '';
  const { n } = JSON.parse(last) as { n: number };
  await file.write(encodeRecord(n + 1, start), 0, null, size);
  await file.close();
}

/** A file that is written in large pieces. */
class Lines {
  private readonly file: number;
  private held: (string | Buffer)[] = [];

  constructor(path: string) {
    this.file = openSync(path, 'w');
  }

  write(line: string | Buffer): void {
    if (this.held.push(line) === linesAtOnce) this.flush();
  }

  flush(): void {
    writeSync(this.file, Buffer.concat(this.held.map((line) => Buffer.from(line))));
    this.held = [];
  }

  close(): void {
    this.flush();
    closeSync(this.file);
  }
}

const linesAtOnce = 1 << 12;

/** A journal, with the time of its last record. */
class Records extends Lines {
  at = Date.UTC(2026, 10, 23);
  private count = 0;

  put(record: JournalRecord): void {
    this.write(encodeRecord(++this.count, record));
  }
}
