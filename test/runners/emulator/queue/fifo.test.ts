import { expect, it } from 'vitest';
import { createFifo } from '../../../../runners/emulator/queue/job-store.js';

it('gives back what it got, in order', () => {
  const fifo = createFifo<number>();
  expect([fifo.peek(), fifo.shift()]).toEqual([undefined, undefined]);
  const out: number[] = [];
  for (let n = 0; n < 10_000; n += 1) {
    fifo.push(n);
    if (n % 3 === 2) out.push(fifo.shift()!, fifo.shift()!);
  }
  for (let next = fifo.peek(); next !== undefined; next = fifo.peek()) out.push(fifo.shift()!);
  expect(out).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
  expect(fifo.shift()).toBeUndefined();
});
