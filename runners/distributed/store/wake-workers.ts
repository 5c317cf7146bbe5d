import type { Transaction } from './database.js';

/** What workers listen to: somebody has changed what there is to do. */
export const channel = 'millrace';

export async function wakeWorkers(on: Transaction): Promise<void> {
  await on.query(`select pg_notify('${channel}', '')`);
}
