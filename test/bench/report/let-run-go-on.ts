import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { thisHost } from '../../../runners/batch/lock/owner.js';

const asked = [
  'Put the lamp on raw linen, soft daylight, a hint of warm sun behind it',
  'Put the clock against a rose plaster wall with window light',
  'Put the bag on violet paper, studio light, a window reflected',
];

/** Makes a finished run look as if this process went on with it: rows in flight in its journal, and an owner. */
export async function letRunGoOn(folder: string, firstRow: number): Promise<void> {
  const now = Date.now();
  const identity = { baseUrl: 'https://api.example.test', lbBaseUrl: '', local: false };
  const start = {
    n: 0,
    k: 'start',
    at: now - 90_000,
    version: '0',
    identity,
    manifest: 'edits.csv',
    settings: { maxCostUsd: 40 },
  };
  const flights = Array.from({ length: 8 }, (_, place) => {
    const id = `row-${firstRow + place}`;
    const at = now - (9 - place) * 1700;
    const request = { kind: 'edit', input: { images: [], prompt: asked[place % asked.length] } };
    return [
      { n: 0, k: 'intent', at, id, row: firstRow + place, request },
      ...(place < 3 ? [{ n: 0, k: 'accepted', at, id, jobId: 'j' }] : []),
      ...(place === 1 ? [{ n: 0, k: 'reply', at, id }] : []),
    ];
  });
  const records = [start, ...flights.flat()].map((record) => `${JSON.stringify(record)}\n`);
  await appendFile(join(folder, 'journal.jsonl'), records.join(''));
  const owner = { pid: process.pid, host: thisHost(), started: new Date(now).toISOString(), command: 'run' };
  await writeFile(join(folder, '.owner.json'), JSON.stringify(owner));
}
