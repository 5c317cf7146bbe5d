import type { S3ClientConfig } from '@aws-sdk/client-s3';
import {
  defer,
  finalize,
  firstValueFrom,
  merge,
  ReplaySubject,
  throwError,
  timeout,
  type Observable,
} from 'rxjs';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { KeepAliveAgents } from '../../../src/transport/connections/keep-alive-agents.js';
import { isTlsFault, readClientError } from '../../../src/transport/transport-error.js';
import { UploadError } from './picture-host.js';

/** How to access a bucket. Credentials, region and profile come from where the AWS tools look for them. */
export interface S3StoreOptions {
  readonly bucket: string;
  /** A store other than AWS; the bucket is then part of the path. @defaultValue env AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL */
  readonly endpoint?: string | undefined;
  /** Agents for connections through a proxy. @defaultValue the SDK's own agents */
  readonly agents?: Pick<KeepAliveAgents, 'http' | 'https' | 'neverConnected'> | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long one try may take until its answer begins, in ms, without the time for sending a picture. @defaultValue 30_000 */
  readonly tryMs?: number | undefined;
  /** How long a call may take with all its tries, in ms, without that time. @defaultValue 120_000 */
  readonly callMs?: number | undefined;
}

/** A bucket of any S3-compatible store. All methods reject with `UploadError`, at the latest when their time has passed. */
export interface S3Store {
  /** Whether there is an object with this key. */
  has(key: string): Promise<boolean>;
  /** Uploads an object. */
  add(key: string, bytes: Uint8Array, contentType: string): Promise<void>;
  /** A presigned URL. */
  addressOf(key: string, lifetimeMs: number): Promise<string>;
  /** Gives up calls that go on, and those that follow. @defaultValue they go on to their end or their time limit */
  close?(): void;
}

/**
 * The lowest speed at which a picture is sent, in bytes a millisecond: 30 MB take half an hour. A limit for silence alone is of no
 * use over TLS: Node does not see how much of a large write has left.
 */
const slowestBytes = 16;

/** @throws {MillraceError} `usage` if the packages are not installed */
export async function openS3Store(options: S3StoreOptions): Promise<S3Store> {
  const { S3Client, GetObjectCommand, HeadObjectCommand, PutObjectCommand, getSignedUrl } = await loadSdk();
  const client = new S3Client(configOf(options));
  const { bucket, tryMs = 30_000, callMs = 120_000 } = options;
  const place = (key: string) => ({ Bucket: bucket, Key: key });
  const closed$ = new ReplaySubject<never>();
  /** The SDK has no time limit of its own; without one, a connection that stalls would hold the run for ever. */
  const explained = <T>(call: (limits: CallLimits) => Promise<T>, bytes = 0): Promise<T> => {
    const sendMs = bytes / slowestBytes;
    const limited = (abortSignal: AbortSignal) => call({ abortSignal, requestTimeout: tryMs + sendMs });
    return inTime(limited, callMs + sendMs, closed$).catch((error: unknown) => {
      throw explainStore(error, options);
    });
  };
  return {
    has: (key) =>
      explained(async (limits) => {
        try {
          await client.send(new HeadObjectCommand(place(key)), limits);
          return true;
        } catch (error) {
          if ((error as { name?: unknown }).name === 'NotFound') return false;
          throw error;
        }
      }),
    add: (key, bytes, contentType) =>
      explained(async (limits) => {
        const command = new PutObjectCommand({ ...place(key), Body: bytes, ContentType: contentType });
        await client.send(command, limits);
      }, bytes.length),
    addressOf: (key, lifetimeMs) => {
      const expiresIn = Math.ceil(lifetimeMs / 1000);
      return explained(() => getSignedUrl(client, new GetObjectCommand(place(key)), { expiresIn }));
    },
    close: () => closed$.error(new Error('it was closed')),
  };
}

interface CallLimits {
  readonly abortSignal: AbortSignal;
  /** For each try, in ms. */
  readonly requestTimeout: number;
}

/** Rejects when the time has passed or the store is closed, also if the call does not end then, as a program that gets the credentials may not. */
function inTime<T>(
  call: (abortSignal: AbortSignal) => Promise<T>,
  limitMs: number,
  closed$: Observable<never>,
): Promise<T> {
  const controller = new AbortController();
  const late = () => throwError(() => new Error(`timed out after ${Math.round(limitMs / 1000)} s`));
  const made = defer(() => call(controller.signal)).pipe(finalize(() => controller.abort()));
  return firstValueFrom(merge(closed$, made).pipe(timeout({ first: limitMs, with: late })));
}

/** How often a request is sent at most: a store that is busy for some seconds does not end a run. */
const mostTries = 6;
const connectMs = 10_000;

/** Stores other than AWS support neither its regions nor its newer checksums. */
function configOf({ endpoint, agents, env }: S3StoreOptions): S3ClientConfig {
  const isElsewhere = [endpoint, env['AWS_ENDPOINT_URL_S3'], env['AWS_ENDPOINT_URL']].some(Boolean);
  const hasRegion = [env['AWS_REGION'], env['AWS_PROFILE']].some(Boolean);
  return {
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint !== undefined && { endpoint }),
    ...(isElsewhere && { forcePathStyle: true, ...(!hasRegion && { region: 'us-east-1' }) }),
    maxAttempts: mostTries,
    requestHandler: {
      connectionTimeout: connectMs,
      throwOnRequestTimeout: true,
      ...(agents && { httpAgent: agents.http, httpsAgent: agents.https }),
    },
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
    // Each is awaited by itself, so that a bundler takes them for optional.
    const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
    const client = await import('@aws-sdk/client-s3');
    return { ...client, getSignedUrl };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const packages = '@aws-sdk/client-s3 @aws-sdk/s3-request-presigner';
    throw new MillraceError('usage', `uploads need packages that are not installed: npm i ${packages}`);
  }
}

/** Statuses below 500 after which another try may help. S3 has 409 for a conflict with another request. */
const passing: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/** Explains an error of the SDK. Its errors contain requests and replies, so only what is named here is read of them. */
export function explainStore(
  error: unknown,
  { bucket, agents }: Pick<S3StoreOptions, 'bucket' | 'agents'>,
): UploadError {
  const { name, message, $metadata, $response } = error as Partial<SdkError>;
  const status = $metadata?.httpStatusCode;
  const isAnswered = status !== undefined && status >= 300 && status < 500 && !passing.has(status);
  const isOurs = /Credential|Region is missing|InvalidEndpoint|InvalidURL|InvalidBucket/i.test(
    `${name} ${message}`,
  );
  const isInsecure = isTlsFault({
    ...readClientError(error),
    neverConnected: agents?.neverConnected(error) ?? false,
  });
  const region = status === 301 ? $response?.headers?.['x-amz-bucket-region'] : undefined;
  // The answer to HEAD has no text.
  const isBare = message === 'UnknownError';
  const hint = isBare && status === 403 ? ': the credentials are wrong, or lack s3:ListBucket' : '';
  const details = [
    isBare ? undefined : message,
    status === undefined ? undefined : `HTTP ${status}${hint}`,
    /^[a-z\d-]+$/.test(region ?? '') ? `it is in the region ${region}: set AWS_REGION` : undefined,
  ];
  const what = [isBare ? undefined : name, ...details]
    .filter((part) => part !== undefined && part !== '')
    .join(', ');
  const isRefused = (isAnswered && name !== 'RequestTimeout') || isOurs || isInsecure;
  const why = isRefused ? 'refused' : 'unreachable';
  return new UploadError(why, `pictures cannot be uploaded to s3://${bucket} (${what})`);
}

/** The read parts of an error of the SDK. */
interface SdkError {
  readonly name: string;
  readonly message: string;
  readonly $metadata: { readonly httpStatusCode?: number };
  readonly $response: { readonly headers?: Readonly<Record<string, string | undefined>> };
}
