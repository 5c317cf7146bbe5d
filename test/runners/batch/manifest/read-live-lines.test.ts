import { describe, expect, it } from 'vitest';
import { BrokenLine, readLiveLines } from '../../../../runners/batch/manifest/read-live-lines.js';
import { collect } from '../../../support/collect.js';

async function* chunks(...texts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Promise.resolve(typeof text === 'string' ? Buffer.from(text) : text);
}

describe('readLiveLines', () => {
  it('gives lines whole, however they are cut', async () => {
    const ü = Buffer.from('ü');
    const cut = chunks('a', 'b\ncd\n\n \r', '\nx', ü.subarray(0, 1), ü.subarray(1), '\r\nend');
    expect(await collect(readLiveLines(cut))).toEqual(['ab', 'cd', '', ' \r', 'xü\r', 'end']);
  });

  it('gives a line before the next one is there', async () => {
    const lines = readLiveLines(
      (async function* () {
        yield Buffer.from('one\ntw');
        await new Promise(() => undefined);
      })(),
    );
    expect(await lines.next()).toEqual({ done: false, value: 'one' });
  });

  it('goes on after a line that is no UTF-8, and after one that is too long, of which it holds nothing', async () => {
    const long = Buffer.alloc(4_000_000, 'x');
    const lines = await collect(readLiveLines(chunks(Buffer.from([0xff, 10]), long, long, long, '\nok\n')));
    expect(lines).toEqual([
      new BrokenLine('is not UTF-8 text'),
      new BrokenLine('is longer than 10 MB'),
      'ok',
    ]);
  });
});
