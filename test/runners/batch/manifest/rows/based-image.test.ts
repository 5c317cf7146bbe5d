import { describe, expect, it } from 'vitest';
import { basedImage, imagesBaseProblem } from '../../../../../runners/batch/manifest/rows/row-images.js';

describe('basedImage', () => {
  it.each([
    ['a.png', 'https://cdn.test/x/a.png'],
    ['./in/a b.png', 'https://cdn.test/x/in/a%20b.png'],
    ['in\\\\ä#1?.png', 'https://cdn.test/x/in/%C3%A4%231%3F.png'],
    ['100%.png', 'https://cdn.test/x/100%25.png'],
  ])('%s lies at %s', (path, url) => {
    expect(basedImage('https://cdn.test/x')(path.replace('\\\\', '\\'))).toBe(url);
    expect(basedImage('https://cdn.test/x/')(path.replace('\\\\', '\\'))).toBe(url);
  });

  it.each([
    '../a.png',
    'in/../../a.png',
    '/etc/a.png',
    '//evil.test/a.png',
    'C:\\a.png',
    'a//b.png',
    '\\\\host\\a.png',
  ])('%s is refused: it leads elsewhere', (path) => {
    expect(basedImage('https://cdn.test/x')(path)).toEqual({
      problem: 'is not a path below --images-base https://cdn.test/x',
    });
  });
});

describe('imagesBaseProblem', () => {
  it.each(['https://cdn.test', 'http://127.0.0.1:8080/a/'])('takes %s', (base) => {
    expect(imagesBaseProblem(base)).toBeUndefined();
  });

  it.each(['cdn.test', 'ftp://cdn.test/', 'https://cdn.test/?a=1', 'https://cdn.test/#a'])(
    'refuses %s',
    (base) => {
      expect(imagesBaseProblem(base)).toBeDefined();
    },
  );
});
