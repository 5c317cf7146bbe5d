import type { Pool } from 'pg';
import type PgBoss from 'pg-boss';

/** The schema of the queues. */
export const queueSchema = 'millrace_queue';

/**
 * pg-boss on the given connections: it has none of its own, no clock of its own, and deletes nothing by itself. Makes its
 * schema where it is missing.
 */
export async function openQueue(pool: Pool): Promise<PgBoss> {
  const { default: Boss } = await import('pg-boss');
  const db = { executeSql: (text: string, values?: unknown[]) => pool.query(text, values) };
  const boss = new Boss({ db, schema: queueSchema, supervise: false, schedule: false });
  // What goes wrong is told to whoever asked.
  boss.on('error', () => undefined);
  await boss.start();
  return boss;
}
