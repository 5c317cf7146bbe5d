import { describe, expect, it } from 'vitest';
import { imagesOf, rowOfFailure, rowOfResult } from '../../../../runners/report/rows/row-of-line.js';

describe('rowOfResult', () => {
  it('gives images back as the manifest of a rehearsal had them', () => {
    const request = {
      input: {
        images: ['http://127.0.0.1:40123/files/my%20photos/a.png', 'https://a.test/b.png'],
        prompt: 'p',
      },
    };
    expect(rowOfResult({ id: 'a', kind: 'edit', request }, true).cells).toMatchObject({
      images: ['my photos/a.png', 'https://a.test/b.png'],
    });
    expect(rowOfResult({ id: 'a', kind: 'edit', request }, false).cells).toMatchObject({
      images: request.input.images,
    });
  });

  it('leaves out cells that are too long to be kept', () => {
    const request = { input: { images: [`data:image/png;base64,${'A'.repeat(20_000)}`], prompt: 'p' } };
    expect(rowOfResult({ id: 'a', kind: 'edit', request }, false).cells).toBeUndefined();
  });

  it('shows an answer without a picture as text, shortened', () => {
    expect(rowOfResult({ id: 'a', kind: 'job', output: { n: 1 } }, false).output).toBe('{\n  "n": 1\n}');
    expect(rowOfResult({ id: 'a', kind: 'job', output: 'x'.repeat(9000) }, false).output!.length).toBe(1501);
    expect(
      rowOfResult(
        { id: 'a', kind: 'edit', output: { image_url: 'x' }, image: { path: 'images/a.png' } },
        false,
      ).output,
    ).toBeUndefined();
  });
});

describe('rowOfFailure', () => {
  it('keeps the own columns of the row apart from what became of it', () => {
    const row = rowOfFailure({
      id: 'a',
      prompt: 'p',
      request: 'mine',
      error: { code: 'rejected', message: 'm', httpStatus: 400, paid: 'no' },
      millrace: { row: 3, kind: 'edit', endpoint: 'e', jobId: 'j' },
    });
    expect(row).toMatchObject({
      row: 3,
      status: 'rejected',
      endpoint: 'e',
      cells: { id: 'a', prompt: 'p', request: 'mine', endpoint: 'e' },
      error: { message: 'm', httpStatus: 400, paid: 'no' },
    });
    expect(row.cells).not.toHaveProperty('error');
  });

  it('takes a code that it does not know for one that nobody should send again', () => {
    expect(rowOfFailure({ id: 'a', error: { code: 'toString' } }).status).toBe('unknown');
  });
});

describe('imagesOf', () => {
  it.each([
    ['a.png b.png|c.png', ['a.png', 'b.png', 'c.png']],
    ['["a b.png"]', ['a b.png']],
    [['x', 3], ['x']],
    ['[broken', []],
    [undefined, []],
  ])('reads %j', (images, expected) => expect(imagesOf({ images })).toEqual(expected));
});
