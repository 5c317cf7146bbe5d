import { describe, expect, it } from 'vitest';
import type { RowRecord } from '../../../runners/batch/row/record-head.js';
import { simulateFleet, type FleetFate } from './simulate-fleet.js';

const begin = Date.UTC(2026, 0, 1);
const hourMs = 3_600_000;

interface Silence {
  /** In ms since the beginning. */
  readonly afterMs: number;
  readonly fate?: FleetFate;
  readonly next?: FleetFate;
  readonly mode?: 'sync' | 'async';
  readonly runsyncTimeoutMs?: number;
}

/** A run whose only worker falls silent, and is followed by another one at once: the records of the rows that it had, behind that moment. */
async function fallsSilent({ afterMs, fate, next, mode, runsyncTimeoutMs }: Silence) {
  const records: RowRecord[] = [];
  const { broken, lost } = await simulateFleet({
    seed: 34_000_000 + afterMs,
    rows: 12,
    beside: 2,
    collectors: [{}],
    workers: [
      { freezes: [{ afterMs, forMs: 10 * 60_000 }], ...fate },
      { beginsMs: afterMs + 1, ...next },
    ],
    options: {
      concurrency: 4,
      ...(runsyncTimeoutMs !== undefined && { runsyncTimeoutMs }),
      ...(mode && { manifest: { path: '/job/rows.jsonl', mode } }),
    },
    watch: (line) => {
      const [, record] = /^\d+ (\{"k".*)$/.exec(line) ?? [];
      if (record !== undefined) records.push(JSON.parse(record) as RowRecord);
    },
  });
  expect(broken).toEqual([]);
  const at = begin + afterMs;
  const [before, after] = [records.filter((one) => one.at < at), records.filter((one) => one.at >= at)];
  const last = new Map(before.map((one) => [one.id, one]));
  const left = [...last.values()].filter(({ k }) => k === 'intent' || k === 'accepted');
  return { at, lost, left, after, nextOf: ({ id }: RowRecord) => after.find((one) => one.id === id) };
}

/** Long enough for rows to be on the wire, accepted, and between two polls. */
const moments = [400, 700, 1_000, 2_000, 3_000, 5_000, 9_000];

describe('a worker that is silent from one moment on', () => {
  const clocks: readonly (readonly [string, FleetFate, FleetFate])[] = [
    ['by clocks that agree', {}, {}],
    ['where its clock is two hours ahead and that of the next worker two hours behind', ahead(2), ahead(-2)],
    ['where its clock is two hours behind and that of the next worker two hours ahead', ahead(-2), ahead(2)],
  ];

  it.each(clocks)('has its rows gone on with by others within 60 s, %s', async (_, fate, next) => {
    const kinds = { intent: 0, accepted: 0 };
    for (const afterMs of moments) {
      const { at, left, nextOf } = await fallsSilent({ afterMs, fate, next });
      for (const row of left) {
        kinds[row.k as 'intent' | 'accepted'] += 1;
        expect((nextOf(row)?.at ?? Infinity) - at).toBeLessThanOrEqual(60_000);
      }
    }
    expect(Math.min(kinds.intent, kinds.accepted)).toBeGreaterThan(3);
  });

  it.each([60_000, 20_000, 5_000])(
    'has its /runsync rows ended as unknown 15 s after their timeout of %i ms at the latest, and their slots are used from then on',
    async (runsyncTimeoutMs) => {
      let unknown = 0;
      for (const afterMs of moments) {
        const { at, left, after, nextOf } = await fallsSilent({ afterMs, mode: 'sync', runsyncTimeoutMs });
        const sent = left.filter(({ k }) => k === 'intent');
        const latest = Math.min(runsyncTimeoutMs + 15_000, 60_000);
        for (const row of sent) {
          const end = nextOf(row);
          expect(end).toMatchObject({ k: 'outcome', error: { code: 'unknown' } });
          expect((end?.at ?? Infinity) - at).toBeLessThanOrEqual(latest);
          expect((end?.at ?? Infinity) - row.at).toBeLessThanOrEqual(runsyncTimeoutMs + 15_000);
          unknown += 1;
        }
        if (sent.length < 4) continue;
        const used = after.find(({ k }) => k === 'intent');
        expect((used?.at ?? Infinity) - at).toBeLessThanOrEqual(latest);
      }
      expect(unknown).toBeGreaterThan(10);
    },
  );

  it('for longer than its /runsync may take, and is back, writes nothing more of it and sends nothing twice', async () => {
    let lost = 0;
    for (const afterMs of moments) {
      const fate = { freezes: [{ afterMs, forMs: 25_000 }] };
      const fleet = await fallsSilent({ afterMs, fate, mode: 'sync', runsyncTimeoutMs: 5_000 });
      lost += fleet.lost;
    }
    expect(lost).toBeGreaterThan(3);
  });
});

function ahead(hours: number): FleetFate {
  return { skewMs: hours * hourMs };
}
