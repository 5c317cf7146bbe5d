import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JobHashes } from '../../../../../runners/batch/journal/rows/hash-index.js';
import { IdHash } from '../../../../../runners/batch/manifest/duplicates/id-hash.js';

function noted(jobs: JobHashes, numbers: Iterable<number>, endpoint = 'e'): void {
  for (const number of numbers) jobs.note(endpoint, new IdHash().ofText(`job-${number}`));
}

it('knows each job that records name, however often and how far apart they do', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('e', 'f'), fc.nat({ max: 20 }))), (named) => {
      const jobs = new JobHashes();
      for (const [endpoint, number] of named) noted(jobs, [number], endpoint);
      const known = new Set(named.map((name) => name.join()));
      for (const endpoint of ['e', 'f'])
        for (let number = 0; number < 22; number++) {
          expect(jobs.add(endpoint, `job-${number}`)).toBe(!known.has(`${endpoint},${number}`));
          expect(jobs.add(endpoint, `job-${number}`)).toBe(false);
        }
    }),
  );
});

it('keeps a job once that is named again soon, and knows one that is named again much later', () => {
  const jobs = new JobHashes();
  const all = Array.from({ length: 50_000 }, (_, number) => number);
  for (const number of all) noted(jobs, [number, number]);
  expect(jobs.index.length).toBe(all.length);
  noted(jobs, all);
  expect(all.filter((number) => jobs.add('e', `job-${number}`))).toEqual([]);
});
