import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { planManifest, type Plan } from '../../../../../runners/batch/manifest/plan-manifest.js';
import { FingerprintList } from '../../../../../runners/batch/manifest/duplicates/hash-table.js';
import { RequestFingerprint } from '../../../../../runners/batch/manifest/duplicates/same-requests.js';
import { SameRequests } from '../../../../../runners/batch/manifest/duplicates/same-requests.js';
import { requestHash } from '../../../../../runners/batch/manifest/request-hash.js';
import type { Row } from '../../../../../runners/batch/manifest/manifest-row.js';
import { jsonLines, readItems, readRows, type TestSettings } from '../../../../support/manifest-items.js';

const url = 'https://example.test/a.png';

async function planOf(text: string, settings: TestSettings = {}): Promise<Plan & { passes: number }> {
  let passes = 0;
  const read = async function* () {
    passes++;
    yield* await readItems(text, settings);
  };
  const plan = await planManifest(read(), { priceOf: () => 100, again: read });
  const counted = passes;
  if (settings.resolveImage === undefined) {
    const { same } = await planManifest(read(), { priceOf: () => 100, again: read, areHashed: true });
    expect(same).toEqual(plan.same);
  }
  return { ...plan, passes: counted };
}

describe('rows that ask for the same under different ids', () => {
  it('are counted, priced and named with the line of the first', async () => {
    const { same, passes } = await planOf(
      `id,images,prompt,note\na,${url},x,1\nb,${url},y,1\nc,${url},x,2\nd,${url},x,3\n`,
    );
    expect(same).toEqual({
      rows: 2,
      cost: { estimated: 200, unpriced: 0 },
      first: [
        { id: 'c', line: 4, sameAsLine: 2 },
        { id: 'd', line: 5, sameAsLine: 2 },
      ],
    });
    expect(passes).toBe(2);
  });

  it('are looked for in one pass where there are none', async () => {
    const { same, passes } = await planOf(`id,images,prompt\na,${url},x\nb,${url},y\n`);
    expect([same?.rows, passes]).toEqual([0, 1]);
  });

  it('are the same whatever the order of keys, and are not where a value is of another type', async () => {
    const rows = [
      { id: 'a', input: { x: 1, y: { p: 'q', r: [1, 2] } } },
      { id: 'b', input: { y: { r: [1, 2], p: 'q' }, x: 1 } },
      { id: 'c', input: { x: '1', y: { p: 'q', r: [1, 2] } } },
      { id: 'd', input: { x: 1, y: { p: 'q', r: [[1], 2] } } },
      { id: 'e', endpoint: 'other', input: { x: 1, y: { p: 'q', r: [1, 2] } } },
    ];
    const { same } = await planOf(jsonLines(...rows), { format: 'jsonl' });
    expect(same?.first.map(({ id }) => id)).toEqual(['b']);
  });

  it.each([
    ['reads', 'id,route,method\na,/r,GET\nb,/r,GET\n'],
    ['rows that collect a job', 'id,jobId\na,j1\nb,j2\n'],
    ['rows without an id, which are counted as repeats', `images,prompt\n${url},x\n${url},x\n`],
    ['rows that are bought again on purpose', `id,images,prompt,redo\na,${url},x,j1\nb,${url},x,j2\n`],
  ])('are not %s', async (_, text) => {
    expect((await planOf(text)).same?.rows).toBe(0);
  });

  it('are compared by a real hash: two fingerprints that happen to be one refuse nothing', async () => {
    const same = new SameRequests();
    const [a, b, c] = (await readRows(`id,images,prompt\na,${url},x\nb,${url},x\nc,${url},y\n`)) as [
      Row,
      Row,
      Row,
    ];
    for (const row of [a, b, c]) same.note(row);
    expect(same.needsSecondPass()).toBe(true);
    // A row whose fingerprint is that of the first two while its request is another.
    const impostor = Object.defineProperty({ ...c, columns: {}, hash: c.hash }, 'request', {
      get: takesTurns(a.request, c.request),
    });
    expect([same.firstLine(a), same.firstLine(impostor), same.firstLine(b)]).toEqual([2, 0, 2]);
  });

  test.prop([
    fc.array(fc.record({ x: fc.integer({ max: 3, min: 0 }), y: fc.jsonValue({ maxDepth: 2 }) }), {
      minLength: 1,
      maxLength: 30,
    }),
  ])('are exactly those that their hashes say', async (inputs) => {
    const text = jsonLines(...inputs.map((input, at) => ({ id: String(at), input })));
    const { same } = await planOf(text, { format: 'jsonl' });
    const hashes = (await readRows(text, { format: 'jsonl' })).map((row) => requestHash(row));
    expect(same?.rows).toBe(hashes.length - new Set(hashes).size);
  });
});

/** `isBought` and the fingerprint look at the request first, the real hash last. */
function takesTurns(first: Row['request'], last: Row['request']): () => Row['request'] {
  let reads = 0;
  return () => (++reads <= 2 ? first : last);
}

describe('FingerprintList', () => {
  it('keeps those that come twice, in about 9 bytes each', () => {
    const list = new FingerprintList();
    const fingerprint = new RequestFingerprint();
    const hash = (n: number) => fingerprint.of({ endpoint: 'e', request: { kind: 'job', input: { n } } });
    const rows = 200_000;
    const before = process.memoryUsage().arrayBuffers;
    for (let n = 0; n < rows; n++) list.add(hash(n).high, hash(n).low);
    expect((process.memoryUsage().arrayBuffers - before) / rows).toBeLessThan(14);
    for (let n = 0; n < rows; n += 1_000) list.add(hash(n).high, hash(n).low);
    expect(list.keepRepeated()).toBe(rows / 1_000);
    const places = new Set<number>();
    for (let n = 0; n < rows; n += 1_000) places.add(list.indexOf(hash(n).high, hash(n).low));
    expect([Math.min(...places), Math.max(...places), places.size]).toEqual([0, 199, 200]);
    expect(list.indexOf(hash(7).high, hash(7).low)).toBe(-1);
  });
});
