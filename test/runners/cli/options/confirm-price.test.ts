import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { confirmPrice } from '../../../../runners/cli/options/confirm-price.js';
import { toMicroDollars } from '../../../../src/contract/micro-dollars.js';

function someone(isTTY: boolean, answer?: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: 80 });
  if (answer !== undefined) stdin.end(answer);
  return { stdin, stderr };
}

const price = toMicroDollars;

describe('confirmPrice', () => {
  it('lets a cheap run go on a terminal, and a run of $100 elsewhere', async () => {
    expect(await confirmPrice(price(25), { yes: false }, someone(true))).toBe('go');
    expect(await confirmPrice(price(100), { yes: false }, someone(false))).toBe('go');
  });

  it.each(['y\n', 'Yes\n'])('asks above $25 on a terminal, and goes on at %j', async (answer) => {
    const io = someone(true, answer);
    expect(await confirmPrice(price(25.01), { yes: false }, io)).toBe('go');
    expect(String(io.stderr.read())).toContain('This may cost $25.01. Go on? [y/N]');
  });

  it.each(['n\n', '\n', '', 'ja\n'])('does not start at %j', async (answer) => {
    await expect(confirmPrice(price(30), { yes: false }, someone(true, answer))).rejects.toThrow(
      'nothing was sent',
    );
  });

  it('asks for no more than the cap', async () => {
    expect(await confirmPrice(price(1000), { yes: false, maxCost: 20 }, someone(true))).toBe('go');
  });

  it('refuses above $100 where nobody is to be asked', async () => {
    await expect(confirmPrice(price(100.5), { yes: false }, someone(false))).rejects.toThrow(
      'priced at $100.50',
    );
  });

  it.each([{ yes: true }, { yes: false, maxCost: 500 }])('takes %j for consent', async (consent) => {
    expect(await confirmPrice(price(1000), consent, someone(false))).toBe('go');
  });
});
