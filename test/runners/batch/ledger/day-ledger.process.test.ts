import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { openDayLedger } from '../../../../runners/batch/ledger/day-ledger.js';
import { asScript } from '../../../support/as-script.js';

const reserverScript = asScript(new URL('reserver.ts', import.meta.url));
const capUsd = 0.0012;
const places = 120;

it('gives each place under the cap to one of several processes, some of which are killed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-day-'));
  const path = join(folder, 'ledger.jsonl');
  const printed = await Promise.all(
    [12, 25, undefined, undefined].map((killAfter, run) => reserver(path, `/run-${run}`, killAfter)),
  );
  const reader = openDayLedger({
    disk: nodeDisk,
    path,
    run: '/reader',
    capUsd,
    exclusively: (work) => work(),
  });
  await reader.outstanding();
  // A process that is killed may have reserved a row that it could not tell of any more.
  const reported = printed.reduce((sum, lines) => sum + lines, 0);
  expect(reader.snapshot()).toEqual({
    cap: places * 10,
    spent: 0,
    reserved: places * 10,
    reservedByOthers: places * 10,
  });
  expect(reported).toBeLessThanOrEqual(places);
  expect(reported).toBeGreaterThanOrEqual(places - 2);
  await rm(folder, { recursive: true });
});

/** How many rows it got; killed after so many lines. */
async function reserver(path: string, run: string, killAfter = Infinity): Promise<number> {
  const child = spawn(process.execPath, [...reserverScript, path, run, String(capUsd)]);
  let printed = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    if (printed.split('\n').length > killAfter) child.kill('SIGKILL');
  });
  child.stderr.on('data', (text: Buffer) => (complaint += text.toString()));
  await once(child, 'close');
  expect(complaint).toBe('');
  return printed.split('\n').filter((line) => /^\d+$/.test(line)).length;
}
