import { describe, expect, it } from 'vitest';
import { findPicture, replaceAt } from '../../../../runners/batch/artifacts/find-picture.js';
import { onePixel } from '../../../support/other-server.js';

const base64 = onePixel.toString('base64');
const url = 'https://pictures.example.test/a.png';

describe('findPicture', () => {
  it.each([
    ['under image_url', { image_url: url }, 'edit', { url, sure: true }],
    ['under result', { result: url, cost: 1 }, 'edit', { url, sure: true }],
    ['under result of a job, which need not be one', { result: url }, 'job', { url, sure: false }],
    [
      'image_url first',
      { result: 'https://other.example.test', image_url: url },
      'edit',
      { url, sure: true },
    ],
    [
      'with blanks, which are encoded',
      { image_url: ' https://pictures.example.test/my photo.png\n' },
      'job',
      { url: 'https://pictures.example.test/my%20photo.png', sure: true },
    ],
  ] as const)('is a URL %s', (_where, output, kind, found) => {
    expect(findPicture(output, { kind })).toEqual(found);
  });

  it.each<[string, unknown, (string | number)[]]>([
    ['a data URI', { image: `data:image/png;base64,${base64}` }, ['image']],
    ['bare base64 under any key', { anything: base64 }, ['anything']],
    ['deep within', { images: [{ b64: 'no' }, { b64: base64 }] }, ['images', 1, 'b64']],
    ['the output itself', base64, []],
    ['beside a URL', { image_url: url, copy: base64 }, ['copy']],
    ['with line breaks', { image: `${base64.slice(0, 60)}\n${base64.slice(60)}\n` }, ['image']],
    ['with the alphabet of URLs', { image: base64.replaceAll('+', '-').replaceAll('/', '_') }, ['image']],
  ])('is text that decodes to one: %s', (_where, output, at) => {
    const found = findPicture(output, { kind: 'job' });
    expect(found).toMatchObject({ at });
    expect(found?.bytes?.equals(onePixel)).toBe(true);
  });

  it.each([
    ['null', null],
    ['a number', 7],
    ['a file name', { image_url: 'a.png' }],
    ['a script', { image_url: 'javascript:alert(1)', result: 'file:///etc/passwd' }],
    [
      'text that begins like base64 of a PNG and is none',
      { text: `${base64.slice(0, 80)} and then some words, which are: !` },
    ],
    ['a PDF', { file: Buffer.from(`%PDF-1.7 ${'x'.repeat(80)}`).toString('base64') }],
    ['a URL within a text', { image_url: `see ${url}`, result: `${url}\nand more` }],
    ['a URL under another key', { link: url }],
    ['a URL deep within', { echo: { image_url: url } }],
  ])('is nothing in %s', (_what, output) => {
    expect(findPicture(output, { kind: 'edit' })).toBeUndefined();
  });

  it('of an edit is at image_url, and a text beside it is its preview, unless the row asked for a text', () => {
    const output = { preview: base64, image_url: url };
    const sent = (enable_base64_output: boolean) => ({
      kind: 'edit' as const,
      input: { enable_base64_output },
    });
    expect(findPicture(output, sent(false))).toEqual({ url, sure: true });
    expect(findPicture(output, sent(true))).toMatchObject({ at: ['preview'] });
    expect(findPicture({ preview: base64, result: url }, sent(false))).toMatchObject({ at: ['preview'] });
  });

  it('is nothing in the text of a job that begins with an address', () => {
    expect(findPicture({ result: `${url} is the one` }, { kind: 'job' })).toBeUndefined();
  });

  it('gives up on what is nested without end', () => {
    let output: unknown = base64;
    for (let depth = 0; depth < 40; depth++) output = { deeper: output };
    expect(findPicture(output, { kind: 'job' })).toBeUndefined();
  });

  it('takes a long text for what it is without choking', () => {
    const long = Buffer.concat([onePixel, Buffer.alloc(30_000_000, 7)]).toString('base64');
    expect(findPicture({ image: long }, { kind: 'job' })).toMatchObject({ at: ['image'] });
    expect(findPicture({ image: `${long}!` }, { kind: 'job' })).toBeUndefined();
  });
});

describe('replaceAt', () => {
  it('replaces one text and leaves the original alone', () => {
    const output = { images: [{ b64: 'a' }, { b64: 'b' }], cost: 1 };
    expect(replaceAt(output, ['images', 1, 'b64'], 'images/x.png')).toEqual({
      images: [{ b64: 'a' }, { b64: 'images/x.png' }],
      cost: 1,
    });
    expect(output.images[1]?.b64).toBe('b');
    expect(replaceAt('whole', [], 'images/x.png')).toBe('images/x.png');
  });
});
