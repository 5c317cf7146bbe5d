import { UploadError } from './upload-error.js';

/** What the SDK says of a store. Its errors hold requests and replies, so nothing but a name and a message is read. */
export function explainStore(error: unknown, bucket: string): UploadError {
  const { name, message, $metadata } = error as {
    name?: string;
    message?: string;
    $metadata?: { httpStatusCode?: number };
  };
  const status = $metadata?.httpStatusCode;
  const isAnswered = status !== undefined && status >= 400 && status < 500 && status !== 429;
  const isOurs = /Credential|Region is missing|InvalidEndpoint|InvalidURL|InvalidBucket/i.test(
    `${name} ${message}`,
  );
  const said = [
    message === 'UnknownError' ? undefined : message,
    status === undefined ? undefined : `HTTP ${status}`,
  ];
  const what = [name, ...said].filter((part) => part !== undefined && part !== '').join(', ');
  const why = isAnswered || isOurs ? 'refused' : 'unreachable';
  return new UploadError(why, `pictures cannot be uploaded to s3://${bucket} (${what})`);
}
