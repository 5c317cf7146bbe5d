import { expect, it } from 'vitest';
import { explainStore } from '../../../../runners/batch/uploads/open-s3-store.js';

it.each([
  [{ name: 'NoSuchBucket', message: 'no such bucket', $metadata: { httpStatusCode: 404 } }, 'refused'],
  [{ name: 'CredentialsProviderError', message: 'Could not load credentials' }, 'refused'],
  [{ name: 'SlowDown', message: 'slow', $metadata: { httpStatusCode: 503 } }, 'unreachable'],
  [{ name: 'TooManyRequests', message: 'slow', $metadata: { httpStatusCode: 429 } }, 'unreachable'],
  [{ name: 'Error', message: 'connect ECONNREFUSED 127.0.0.1:9' }, 'unreachable'],
  [{ name: 'RequestTimeout', message: 'idle', $metadata: { httpStatusCode: 400 } }, 'unreachable'],
  [{ name: 'OperationAborted', message: 'conflict', $metadata: { httpStatusCode: 409 } }, 'unreachable'],
  [{ name: 'PermanentRedirect', message: 'elsewhere', $metadata: { httpStatusCode: 301 } }, 'refused'],
  [{ name: 'Error', message: 'self-signed', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'refused'],
])('tells a store that does not let us from one that does not answer: %j', (error, why) => {
  expect(explainStore(error, { bucket: 'b' })).toMatchObject({
    why,
    message: expect.stringContaining(error.name),
  });
});

it('says what a refusal without a text may mean', () => {
  const { message } = explainStore(
    { name: 'Unknown', message: 'UnknownError', $metadata: { httpStatusCode: 403 } },
    { bucket: 'b' },
  );
  expect(message).toBe(
    'pictures cannot be uploaded to s3://b (HTTP 403: the credentials are wrong, or lack s3:ListBucket)',
  );
});
