import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A real S3-compatible server with one bucket, `pictures`. */
export interface S3Server extends AsyncDisposable {
  readonly url: string;
  /** Its key and secret, as the AWS tools find them. */
  readonly env: Record<string, string>;
  /** `METHOD /path` of every request so far, without its query. */
  readonly requests: string[];
}

interface S3rver {
  configureBuckets(): Promise<void>;
  getMiddleware(): RequestListener;
}
const S3rver = createRequire(import.meta.url)('s3rver') as new (options: object) => S3rver;

export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-s3-'));
  const store = new S3rver({
    silent: true,
    directory,
    vhostBuckets: false,
    configureBuckets: [{ name: 'pictures', configs: [] }],
  });
  await store.configureBuckets();
  const requests: string[] = [];
  const answer = store.getMiddleware();
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${(request.url ?? '').split('?')[0]}`);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    env: { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' },
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
