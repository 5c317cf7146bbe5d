import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../runners/batch/run-batch.js';
import type { DiskFault } from '../support/forgetful-disk.js';
import { simulateRun } from './simulate-run.js';

const codes = ['ENOSPC', 'EIO', 'EROFS', 'EMFILE'] as const;

/** Each file that a run writes, with a call that it cannot do without. */
const places: readonly (Omit<DiskFault, 'code'> & { path: string })[] = [
  { path: 'journal.jsonl', call: 'write', nth: 9 },
  { path: 'journal.jsonl', call: 'sync', nth: 9 },
  { path: 'results.jsonl', call: 'write', nth: 2 },
  { path: 'failures.jsonl', call: 'write', nth: 1 },
  { path: 'costs.csv', call: 'write', nth: 3 },
  { path: 'results.csv', call: 'write', nth: 3 },
  { path: 'failures.csv', call: 'write', nth: 2 },
  { path: 'summary.json', call: ['open', 'write', 'rename'], nth: 1 },
  { path: '/images/', call: 'open', nth: 2 },
  { path: '/images/', call: 'write', nth: 3 },
  { path: '/images/', call: 'sync', nth: 2 },
  { path: '/images/', call: 'rename', nth: 2 },
];

async function runInto(fault: DiskFault) {
  const ends: (Extract<RunEvent, { type: 'finished' }> | undefined)[] = [];
  const simulated = await simulateRun({
    seed: 4,
    rows: 24,
    format: 'csv',
    fates: [{ options: { limit: 4 } }, { diskFaults: [fault] }],
    watch: (_disk, end) => ends.push(end),
  });
  return { ...simulated, ends };
}

describe('a disk that fails', () => {
  for (const place of places)
    for (const code of codes) {
      const { path, call } = place;
      it(`${code} on ${path} (${String(call)}): exit 74, said plainly, and the next start goes on [fault 17]`, async () => {
        const { ends, exitCodes, broken } = await runInto({ ...place, code, lasting: true });
        expect(exitCodes[1]).toBe(74);
        expect(ends[1]?.reason).toContain(path === '/images/' ? 'images/' : path);
        expect(ends[1]?.reason).toMatch(/run (the same command )?again/i);
        expect(broken).toEqual([]);
      });
    }

  it.each(codes)('%s on run.log, a thumbnail or a snapshot stops nothing', async (code) => {
    for (const path of ['run.log', 'thumbnails', '.journal.snapshot']) {
      const { exitCodes, broken } = await runInto({ code, path, call: ['write', 'sync'] });
      expect(exitCodes[1]).toBe(1);
      expect(broken).toEqual([]);
    }
  });
});
