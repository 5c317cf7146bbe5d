import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { requestHash } from '../../../../runners/batch/manifest/request-hash.js';

it('is the first 24 digits of the SHA-256 of the canonical JSON', () => {
  const text = '{"endpoint":"e","kind":"job","request":{"input":{"a":1,"b":2},"kind":"job"}}';
  const hash = requestHash({ kind: 'job', endpoint: 'e', request: { kind: 'job', input: { b: 2, a: 1 } } });
  expect(hash).toBe(createHash('sha256').update(text).digest('hex').slice(0, 24));
});
