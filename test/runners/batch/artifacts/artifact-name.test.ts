import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { foldCase, artifactName } from '../../../../runners/batch/artifacts/artifact-name.js';

const png = (id: string, collides = false): string => artifactName({ id, format: 'png', collides });

describe('artifactName', () => {
  it('is the id and what the bytes are', () => {
    expect(png('mug-017')).toBe('mug-017.png');
    expect(artifactName({ id: 'IMG_1.raw', format: 'jpeg' })).toBe('IMG_1.raw.jpeg');
  });

  it.each([
    ['../x', /^x~[0-9a-f]{10}\.png$/],
    ['/abs', /^abs~/],
    ['con', /^row-con~/],
    ['nul.txt', /^nul-txt~/],
    ['a/b', /^a-b~/],
    ['a\\b', /^a-b~/],
    ['a\0b', /^a-b~/],
    ['..', /^row~/],
    ['.hidden', /^hidden~/],
    ['🖼️', /^row~/],
    ['x'.repeat(300), /^x{60}~/],
    ['ends.', /^ends~/],
    ['a b', /^a-b~/],
    ['a~b', /^a-b~/],
  ])('%j is cleaned, and set apart by a hash [fault 28]', (id, name) => {
    expect(png(id)).toMatch(name);
  });

  it('sets ids apart that differ in case alone, and other pictures of the same row', () => {
    expect(png('Mug', true)).toMatch(/^Mug~[0-9a-f]{10}\.png$/);
    expect(artifactName({ id: 'mug', format: 'png', apart: 'a' })).not.toBe(
      artifactName({ id: 'mug', format: 'png', apart: 'b' }),
    );
  });

  it('sets ids apart that are one text once they are normalised, as file systems do', () => {
    const ids = ['caf\u00e9', 'cafe\u0301', '\u212b', '\u00c5', 'A\u030a', '\ufb01x', 'fix', 'ﬁx'];
    const names = [...new Set(ids)].map((id) => png(id).normalize('NFKC').toLowerCase());
    expect(new Set(names).size).toBe(new Set(ids).size);
  });

  test.prop([fc.string({ maxLength: 400, unit: 'binary' })])(
    'stays in its folder and is short, whatever the id',
    (id) => {
      const name = png(id);
      expect(name).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._~-]*\.png$/);
      expect(name).not.toContain('..');
      expect(Buffer.byteLength(name)).toBeLessThan(140);
    },
  );

  test.prop([fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 })])(
    'is never the same for two ids',
    (one, other) => {
      fc.pre(foldCase(one) !== foldCase(other));
      expect(foldCase(png(one))).not.toBe(foldCase(png(other)));
    },
  );
});
