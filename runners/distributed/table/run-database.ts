import type { Pool } from 'pg';
import type { RowQueue } from '../queue/row-queue.js';

/** A database that holds runs: its connections, and the queues in it. */
export interface RunDatabase {
  readonly pool: Pool;
  readonly queue: RowQueue;
}
