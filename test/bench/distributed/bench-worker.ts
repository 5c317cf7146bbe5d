// A worker as a process of its own, for measure-fleet.ts.
import { keepMemorySmall, makeRoomForRows } from '../../../runners/cli/make-room-for-rows.js';
import { databaseAddress } from '../../../runners/distributed/database/database-address.js';
import { openPool } from '../../../runners/distributed/database/open-pool.js';
import { openQueue } from '../../../runners/distributed/queue/row-queue.js';
import { runWorker } from '../../../runners/distributed/worker/run-worker.js';
import { Subject, tap } from 'rxjs';
import { createGotTransport } from '../../../src/transport/got/got-transport.js';
import type { Transport } from '../../../src/transport/transport.js';

// As `millrace worker` does.
keepMemorySmall();
makeRoomForRows();

const { BENCH_DATABASE: url = '', BENCH_BASE_URL: baseUrl = '', BENCH_KEY: apiKey = '' } = process.env;
const { pool } = await openPool(databaseAddress(url, {}), { max: 6, name: 'bench' });
const stop = new Subject<void>();
process.on('message', () => stop.next());
process.on('disconnect', () => process.exit());
const statuses: Record<number, number> = {};
const got = createGotTransport();
const transport: Transport = (request) =>
  got(request).pipe(tap(({ status }) => (statuses[status] = (statuses[status] ?? 0) + 1)));
const notify = (event: { type: string }): void => {
  if (event.type !== 'progress') process.send?.(event);
};
await runWorker({
  database: { pool, queue: await openQueue(pool) },
  apiKey,
  baseUrl,
  stop,
  notify,
  transport,
});
process.send?.({ statuses });
await pool.end();
process.disconnect();
