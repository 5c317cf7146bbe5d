import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { loadSharp } from '../../../../runners/emulator/edit/load-sharp.js';
import { missingSharp } from '../../../../runners/emulator/edit/missing-sharp.js';

const advice = 'image edits need the package sharp: npm i sharp';
const absent = (): never => {
  throw new Error('not found');
};

describe('sharp', () => {
  it('is loaded when it is there', async () => {
    expect(await loadSharp()).toBe(sharp);
    expect(missingSharp()).toBeUndefined();
  });

  it('is named with the line that installs it when it is not', async () => {
    await expect(loadSharp(() => Promise.reject(new Error('not found')))).rejects.toThrow(advice);
    expect(missingSharp(absent)).toBe(advice);
  });
});
