import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdRun } from '../../../../runners/batch/lock/hold-run.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { encodeRecord } from '../../../../runners/batch/journal/line/record-line.js';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import type { JournalRecord } from '../../../../runners/batch/journal/record.js';
import { lastValueFrom } from 'rxjs';
import { openSharedRun, type SharedRun } from '../../../support/shared-run.js';
import type { Finished } from '../../../support/run-folder.js';

let shared: SharedRun;
let journal: string;
let states = 0;
/** The folder after its first start, and after its second one. */
const [older, whole] = ['older', 'whole'] as const;
const at = (name: string): string => join(shared.folder.path, name);

beforeAll(async () => {
  shared = await openSharedRun();
  const { folder } = shared;
  folder.manifest(
    Array.from({ length: 6 }, (_, n) => ({
      id: `r${n}`,
      endpoint: 'echo',
      input: { n },
    })),
  );
  journal = join(folder.out, 'journal.jsonl');
  await shared.work();
  for (const [name, options] of [
    [older, { limit: 3 }],
    [whole, {}],
  ] as const) {
    expect((await start(options)).exitCode).toBe(0);
    cpSync(folder.out, at(name), { recursive: true });
  }
}, 60_000);

afterAll(() => shared.close());

/** Each start is that of a machine which has not seen the run: what its own state folder says is held in other tests. */
function start(options: { limit?: number; repair?: boolean } = {}): Promise<Finished> {
  const stateFolders = [at(`state-${++states}`)];
  const prices = { assumePriceUsd: 0.01, concurrency: 2 };
  return shared.collect({
    ...prices,
    ...options,
    hold: (out) => holdRun(out, { stateFolders }),
  });
}

/** The folder as it was in the end, but for its journal. */
function damage(bytes: Buffer | string): void {
  const { out } = shared.folder;
  rmSync(out, { recursive: true });
  cpSync(at(whole), out, { recursive: true });
  writeFileSync(journal, bytes);
}

/** A start, with `--repair` where it is refused without. */
async function goOn(): Promise<Finished> {
  const plain = await start();
  if (plain.exitCode === 0) return plain;
  expect([plain.exitCode, plain.reason]).toEqual([74, expect.stringContaining('--repair')]);
  return start({ repair: true });
}

/** The records of the database, each with how often the journal has it. */
async function copies(): Promise<number[]> {
  const client = new pg.Client({ connectionString: shared.url });
  await client.connect();
  const { rows } = await client.query<{ record: string }>('select record from millrace.records order by seq');
  await client.end();
  const known = readFileSync(journal, 'utf8').split('\n').map(content);
  return rows.map(({ record }) => {
    const line = encodeRecord(1, JSON.parse(record) as JournalRecord).toString();
    return known.filter((one) => one === content(line.trimEnd())).length;
  });
}

/** A line without its number and its checksum. */
function content(line: string): string {
  return line.replace(/^\{"n":\d+/, '').replace(/,"c":"\w+"\}$/, '');
}

function expectBooks({ exitCode, reason, summary }: Finished): void {
  expect([exitCode, reason]).toEqual([0, expect.anything()]);
  const { folder, emulator } = shared;
  const ids = ['r0', 'r1', 'r2', 'r3', 'r4', 'r5'];
  const sorted = (lines: readonly { id?: unknown }[]) => lines.map(({ id }) => id).sort();
  expect(emulator.bill()).toHaveLength(6);
  expect(sorted(folder.lines('results.jsonl'))).toEqual(ids);
  expect(sorted(folder.costs())).toEqual(ids);
  expect(folder.costs().map(({ cost, source }) => `${source} ${cost}`)).toEqual(
    Array(6).fill('estimated 0.01'),
  );
  expect(summary.rows).toEqual({ total: 6, completed: 6, failed: 0, toDo: 0 });
  expect(summary.cost).toMatchObject({ estimated: 0.06, unknown: 0 });
}

const linesOf = (name: string) =>
  readFileSync(join(at(name), 'journal.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => `${line}\n`);

describe('a start over the database of a folder', { timeout: 120_000 }, () => {
  it('whose journal was cut, has each record once, and buys nothing again', async () => {
    const { length } = linesOf(whole);
    for (const kept of [1, 2, 3, 5, 8, length - 4, length - 1]) {
      damage(linesOf(whole).slice(0, kept).join(''));
      expectBooks(await goOn());
      expect([kept, ...new Set(await copies())]).toEqual([kept, 1]);
    }
  });

  it('whose journal is an older copy, has each record once, and buys nothing again', async () => {
    damage(readFileSync(join(at(older), 'journal.jsonl')));
    expectBooks(await goOn());
    expect(new Set(await copies())).toEqual(new Set([1]));
  });

  it('whose journal is an older copy that was gone on with until it was as long, has each record once', async () => {
    damage(readFileSync(join(at(older), 'journal.jsonl')));
    const open = await openJournal(nodeDisk, shared.folder.out);
    for (let n = linesOf(older).length; n < linesOf(whole).length + 3; n++)
      await lastValueFrom(open.append({ k: 'stop', at: n, exitCode: 0 }));
    await open.close();
    expectBooks(await goOn());
    expect(new Set(await copies())).toEqual(new Set([1]));
  });

  it('whose journal has lost lines in its middle, has no record twice, and buys nothing again', async () => {
    const lines = linesOf(whole);
    const lost = lines.flatMap((line, place) =>
      /"k":"(intent|accepted)".*"id":"r[13]"/.test(line) ? [place] : [],
    );
    damage(lines.map((line, place) => (lost.includes(place) ? '{"n":\n' : line)).join(''));
    expectBooks(await goOn());
    expect(Math.max(...(await copies()))).toBe(1);
  });
});
