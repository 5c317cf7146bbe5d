import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { RowRequest } from '../../../../runners/batch/manifest/manifest-row.js';
import { askedHash, requestHash } from '../../../../runners/batch/manifest/request-hash.js';

it('is the first 24 digits of the SHA-256 of the canonical JSON', () => {
  const text = '{"endpoint":"e","kind":"job","request":{"input":{"a":1,"b":2},"kind":"job"}}';
  const hash = requestHash({ kind: 'job', endpoint: 'e', request: { kind: 'job', input: { b: 2, a: 1 } } });
  expect(hash).toBe(createHash('sha256').update(text).digest('hex').slice(0, 24));
});

describe('askedHash', () => {
  const asked = (request: RowRequest, columns = {}, hash = 'as written') =>
    askedHash({ kind: request.kind, endpoint: 'e', columns, request, hash });
  const edit = (input: object): RowRequest => ({
    kind: 'edit',
    input: { images: ['https://a.test/1.png'], prompt: 'x', ...input },
  });
  const job = (input: Record<string, unknown>): RowRequest => ({ kind: 'job', input });

  it('of an edit is the hash of its request without default values', () => {
    const plain = requestHash({ kind: 'edit', endpoint: 'e', request: edit({}) });
    expect(asked(edit({}))).toBe(plain);
    expect(asked(edit({ resolution: '1k', output_format: 'png', enable_base64_output: false }))).toBe(plain);
    expect(asked(edit({ resolution: '2k' }))).not.toBe(plain);
  });

  it('is the same for a text in the forms of several editors, at any depth', () => {
    const deep = (text: string) => job({ a: [{ b: text }], __proto__: { c: 1 }, n: 1 });
    const unix = 'Gr\u00fc\u00dfe\n';
    expect(asked(deep(unix))).toBe('as written');
    for (const text of ['Gr\u00fc\u00dfe\r\n', 'Gr\u00fc\u00dfe\r', 'Gru\u0308\u00dfe\n'])
      expect(asked(deep(text))).toBe(requestHash({ kind: 'job', endpoint: 'e', request: deep(unix) }));
    expect(asked(edit({ prompt: 'a\r\nb' }))).toBe(asked(edit({ prompt: 'a\nb' })));
  });

  it('is the same for a text that results.csv has escaped', () => {
    for (const text of ['=x', '-5 degrees', '+1', '@home'])
      expect(asked(edit({ prompt: `'${text}` }))).toBe(asked(edit({ prompt: text })));
    expect(asked(edit({ prompt: "'quoted'" }))).not.toBe(asked(edit({ prompt: "quoted'" })));
  });

  it('leaves a request as it is that it compares', () => {
    const request = job({ list: ['a\r\n'] });
    asked(request);
    expect(request).toEqual(job({ list: ['a\r\n'] }));
  });

  it('differs by the purchase that a row replaces', () => {
    expect(asked(edit({}), { redo: 'blurred' })).not.toBe(asked(edit({})));
    expect(asked(edit({}), { redo: '' })).toBe(asked(edit({})));
  });
});
