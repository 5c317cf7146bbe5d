import { expect, it } from 'vitest';
import { explainStore } from '../../../../runners/batch/uploads/open-s3-store.js';

it.each([
  [{ name: 'NoSuchBucket', message: 'no such bucket', $metadata: { httpStatusCode: 404 } }, 'refused'],
  [{ name: 'CredentialsProviderError', message: 'Could not load credentials' }, 'refused'],
  [{ name: 'SlowDown', message: 'slow', $metadata: { httpStatusCode: 503 } }, 'unreachable'],
  [{ name: 'TooManyRequests', message: 'slow', $metadata: { httpStatusCode: 429 } }, 'unreachable'],
  [{ name: 'Error', message: 'connect ECONNREFUSED 127.0.0.1:9' }, 'unreachable'],
])('tells a store that does not let us from one that does not answer: %j', (error, why) => {
  expect(explainStore(error, 'b')).toMatchObject({ why, message: expect.stringContaining(error.name) });
});
