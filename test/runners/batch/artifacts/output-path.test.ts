import { describe, expect, it } from 'vitest';
import { findFiles } from '../../../../runners/batch/artifacts/find-picture.js';
import {
  parseOutputPath,
  outputPaths,
  pathsInForce,
} from '../../../../runners/batch/artifacts/output-path.js';

const url = (name: string): string => `https://files.example.test/${name}`;
const found = (output: unknown, ...paths: string[]) =>
  findFiles(output, outputPaths(paths)).map(({ field, ...rest }) => [
    field,
    'problem' in rest ? rest.problem : (rest.url ?? rest.bytes?.length),
  ]);

describe('parseOutputPath', () => {
  it.each([
    'output',
    'output.video_url',
    'output.images[].url',
    'output.images[*].url',
    'output.files[0]',
    'output["a.b"]["c \\"d\\""]',
    'output.Ünïcode-name_1',
  ])('takes %s', (text) => {
    expect(parseOutputPath(text)).toMatchObject({ path: { text } });
  });

  it.each([
    ['video_url', 'output.video_url'],
    ['$.output.video_url', 'output.video_url'],
    ['$.video_url', 'output.video_url'],
    ['/output/video_url', 'output.video_url'],
    ['Output.video_url', 'output.video_url'],
    ['output..video_url', 'output.video_url'],
    ['output.video_url.', 'output.video_url'],
    ['output.images.*.url', 'output.images[].url'],
    ['output.images.[0].url', 'output.images[0].url'],
    ["output['a b']", 'output["a b"]'],
    ['outputs.video_url', 'output.outputs.video_url'],
  ])('refuses %s, and guesses %s', (text, guess) => {
    expect(parseOutputPath(text)).toEqual({
      problem: `"${text}" is not a path into a job's output: did you mean ${guess}?`,
    });
  });

  it.each(['', 'output[', 'output["a', 'output.a b', 'output[-1]'])(
    'refuses %s without a guess that fits',
    (text) => {
      expect(parseOutputPath(text)).toMatchObject({
        problem: expect.stringMatching(/is not a path/) as string,
      });
    },
  );
});

describe('findFiles', () => {
  it('finds one address, those of a list, and those of a list at the end of the path', () => {
    const output = {
      video_url: url('a'),
      images: [{ url: url('b') }, { url: url('c') }],
      all: [url('d'), url('e')],
    };
    expect(found(output, 'output.video_url', 'output.images[].url', 'output.all')).toEqual([
      ['output.video_url', url('a')],
      ['output.images[0].url', url('b')],
      ['output.images[1].url', url('c')],
      ['output.all[0]', url('d')],
      ['output.all[1]', url('e')],
    ]);
    expect(found(url('x'), 'output')).toEqual([['output', url('x')]]);
    expect(found({ 'a.b': url('y') }, 'output["a.b"]')).toEqual([['output["a.b"]', url('y')]]);
  });

  it('finds a file in a text: a data URI, or bare base64 of a known format', () => {
    const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(100, 32)]);
    const output = {
      uri: `data:application/pdf;base64,${pdf.toString('base64')}`,
      bare: pdf.toString('base64'),
    };
    expect(found(output, 'output.uri', 'output.bare')).toEqual([
      ['output.uri', 109],
      ['output.bare', 109],
    ]);
  });

  it('says of each field why it holds none, and loses no other', () => {
    const output = { a: url('a'), list: [], n: null, words: 'not an address', deep: { url: url('b') } };
    expect(
      found(output, 'output.a', 'output.b', 'output.list[].url', 'output.n', 'output.words', 'output.deep'),
    ).toEqual([
      ['output.a', url('a')],
      ['output.b', 'is not in the output'],
      ['output.list[].url', 'is an empty list'],
      ['output.n', 'is not an http or https address, and no base64 text of a file of a known format'],
      ['output.words', 'is not an http or https address, and no base64 text of a file of a known format'],
      ['output.deep', 'is an object, and no address: did you mean output.deep.url?'],
    ]);
    for (const hostile of ['file:///etc/passwd', 'javascript:alert(1)', '//evil.test/a', 'ftp://a.test/b'])
      expect(found({ a: hostile }, 'output.a')[0]?.[1]).toMatch(/is not an http/);
  });

  it('reads no inherited name, and goes into no text', () => {
    expect(found({}, 'output.constructor', 'output.__proto__.x')).toEqual([
      ['output.constructor', 'is not in the output'],
      ['output.__proto__.x', 'is not in the output'],
    ]);
    expect(found({ a: 'text' }, 'output.a[0]', 'output.a.length')).toEqual([
      ['output.a[0]', 'is not in the output'],
      ['output.a.length', 'is not in the output'],
    ]);
    expect(found(null, 'output', 'output.a')[1]).toEqual(['output.a', 'is not in the output']);
  });

  it('takes a thousand files of a row, and says how many there are', () => {
    const many = found({ all: Array.from({ length: 1_200 }, (_, n) => url(String(n))) }, 'output.all[]');
    expect(many).toHaveLength(1_001);
    expect(many.at(-1)).toEqual(['output.all[]', 'has 1200 files: 1000 are saved']);
  });
});

describe('pathsInForce', () => {
  it('is what a start says, else what the run remembers', () => {
    expect(pathsInForce({}, { saveOutput: ['output.a'] })).toEqual(['output.a']);
    expect(pathsInForce({ saveOutput: ['output.b', 'output.b'] }, { saveOutput: ['output.a'] })).toEqual([
      'output.b',
    ]);
    expect(pathsInForce({ saveOutput: null }, { saveOutput: ['output.a'] })).toEqual([]);
  });
});
