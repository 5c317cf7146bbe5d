import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { createPictureStore } from '../../../runners/emulator/picture-store.js';
import { createTempFolder } from '../../../runners/emulator/temp-folder.js';

const folder = createTempFolder();
afterEach(() => folder.remove());

describe('createPictureStore', () => {
  it('never holds more bytes than allowed, except for the newest alone', async () => {
    const own = createTempFolder();
    const store = createPictureStore(own, () => 0, 250);
    const names = [];
    for (let n = 0; n < 5; n += 1) names.push(await store.add(Buffer.alloc(100), 'png'));
    expect(names.map((name) => store.find(name) !== undefined)).toEqual([false, false, false, true, true]);
    const [first, , , , last] = names;
    const path = store.find(last!)!.path;
    expect(existsSync(path)).toBe(true);
    expect(existsSync(path.replace(last!, first!))).toBe(false);
    const big = await store.add(Buffer.alloc(1_000), 'jpeg');
    expect(store.find(big)).toMatchObject({ bytes: 1_000, contentType: 'image/jpeg' });
    expect(store.find(last!)).toBeUndefined();
    own.remove();
    expect(existsSync(path)).toBe(false);
  });
});
