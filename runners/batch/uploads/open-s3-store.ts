import type * as http from 'node:http';
import type * as https from 'node:https';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import { UploadError } from './picture-host.js';

/** How to access a bucket. Credentials, region and profile come from where the AWS tools look for them. */
export interface S3StoreOptions {
  readonly bucket: string;
  /** A store other than AWS; the bucket is then part of the path. @defaultValue env AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL */
  readonly endpoint?: string | undefined;
  /** Agents for connections through a proxy. @defaultValue the SDK's own agents */
  readonly agents?: { readonly httpAgent: http.Agent; readonly httpsAgent: https.Agent } | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A bucket of any S3-compatible store. All methods reject with `UploadError`. */
export interface S3Store {
  /** Whether there is an object with this key. */
  has(key: string): Promise<boolean>;
  /** Uploads an object. */
  add(key: string, bytes: Uint8Array, contentType: string): Promise<void>;
  /** A presigned URL. */
  addressOf(key: string, lifetimeMs: number): Promise<string>;
}

/** @throws {MillraceError} `usage` if the packages are not installed */
export async function openS3Store(options: S3StoreOptions): Promise<S3Store> {
  const { S3Client, GetObjectCommand, HeadObjectCommand, PutObjectCommand, getSignedUrl } = await loadSdk();
  const client = new S3Client(configOf(options));
  const { bucket } = options;
  const place = (key: string) => ({ Bucket: bucket, Key: key });
  return {
    has: (key) =>
      client.send(new HeadObjectCommand(place(key))).then(
        () => true,
        (error: unknown) => {
          if ((error as { name?: unknown }).name === 'NotFound') return false;
          throw explainStore(error, bucket);
        },
      ),
    async add(key, bytes, contentType) {
      const command = new PutObjectCommand({ ...place(key), Body: bytes, ContentType: contentType });
      await client.send(command).catch((error: unknown) => {
        throw explainStore(error, bucket);
      });
    },
    addressOf: (key, lifetimeMs) =>
      getSignedUrl(client, new GetObjectCommand(place(key)), {
        expiresIn: Math.ceil(lifetimeMs / 1000),
      }).catch((error: unknown) => {
        throw explainStore(error, bucket);
      }),
  };
}

/** Stores other than AWS support neither its regions nor its newer checksums. */
function configOf({ endpoint, agents, env }: S3StoreOptions): S3ClientConfig {
  const isElsewhere = [endpoint, env['AWS_ENDPOINT_URL_S3'], env['AWS_ENDPOINT_URL']].some(Boolean);
  const hasRegion = [env['AWS_REGION'], env['AWS_PROFILE']].some(Boolean);
  return {
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint !== undefined && { endpoint }),
    ...(isElsewhere && { forcePathStyle: true, ...(!hasRegion && { region: 'us-east-1' }) }),
    ...(agents && { requestHandler: agents }),
    ...keysOf(env),
  };
}

/** The keys in `env`, if no profile is set; the SDK finds everything else. */
function keysOf(env: S3StoreOptions['env']): Pick<S3ClientConfig, 'credentials'> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey || env['AWS_PROFILE']) return {};
  const sessionToken = env['AWS_SESSION_TOKEN'];
  return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) } };
}

async function loadSdk() {
  try {
    const [{ getSignedUrl }, client] = await Promise.all([
      import('@aws-sdk/s3-request-presigner'),
      import('@aws-sdk/client-s3'),
    ]);
    return { ...client, getSignedUrl };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const packages = '@aws-sdk/client-s3 @aws-sdk/s3-request-presigner';
    throw new MillraceError('usage', `uploads need packages that are not installed: npm i ${packages}`);
  }
}

/** Explains an error of the SDK. Its errors contain requests and replies, so only name, message and status are read. */
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
  const details = [
    message === 'UnknownError' ? undefined : message,
    status === undefined ? undefined : `HTTP ${status}`,
  ];
  const what = [name, ...details].filter((part) => part !== undefined && part !== '').join(', ');
  const why = isAnswered || isOurs ? 'refused' : 'unreachable';
  return new UploadError(why, `pictures cannot be uploaded to s3://${bucket} (${what})`);
}
