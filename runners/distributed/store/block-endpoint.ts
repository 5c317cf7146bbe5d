import { stopCauses } from '../../batch/stop/stop-causes.js';
import { inTransaction, type Database } from './database.js';
import type { RunTerms } from './run-terms.js';
import { stopRun } from './stop-run.js';

interface Found {
  readonly terms: RunTerms;
  readonly blocked: Record<string, string>;
}

/** The service does not know the endpoint: its rows are left. When nothing else is left to send to, the run stops. */
export async function blockEndpoint(
  { pool }: Database,
  run: number,
  endpoint: string,
  message: string,
): Promise<void> {
  await inTransaction(pool, async (on) => {
    const text = 'select terms, blocked from millrace.runs where run = $1 for update';
    const [found] = (await on.query<Found>(text, [run])).rows;
    if (found === undefined) return;
    const blocked = { ...found.blocked, [endpoint]: message };
    await on.query('update millrace.runs set blocked = $2 where run = $1', [run, JSON.stringify(blocked)]);
    const { endpoints, hasRoutes } = found.terms;
    const isLast = !hasRoutes && endpoints.every((known) => Object.hasOwn(blocked, known));
    if (isLast) await stopRun(on, run, stopCauses.noEndpointLeft(Object.keys(blocked), message));
  });
}
