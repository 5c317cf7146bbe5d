import type { Pool } from 'pg';
import { expect, it } from 'vitest';
import { StoredCallbacks } from '../../../runners/distributed/callbacks/served-callbacks.js';

it('looks for callbacks about a row that is named while a look ends, however few steps lie between', async () => {
  for (let steps = 0; steps < 30; steps++) {
    const asked: unknown[] = [];
    const query = (_: unknown, values: readonly unknown[]) => {
      asked.push(...values.flat());
      return Promise.resolve({ rows: [] });
    };
    const receiver = { deliver: () => Promise.resolve(undefined) };
    const pool = { query } as unknown as Pool;
    const stored = new StoredCallbacks({ pool, run: 1, name: 'run', receiver, left: () => undefined });
    stored.look(['a']);
    for (let step = 0; step < steps; step++) await Promise.resolve();
    stored.look(['b']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked, `${steps} steps`).toEqual(expect.arrayContaining(['"a"', '"b"']));
  }
});
