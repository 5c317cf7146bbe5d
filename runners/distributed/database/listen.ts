import type { Pool } from 'pg';
import { firstValueFrom, timer, type Observable, type SchedulerLike } from 'rxjs';

interface Listener {
  /**
   * Called with the payload of each notification, and with an empty payload each time listening begins, because earlier
   * notifications may have been missed.
   */
  readonly woken: (payload: string) => void;
  /** Ends the listening. */
  readonly left: Observable<unknown>;
  readonly scheduler: SchedulerLike;
}

const againMs = 1_000;

/** Listens to notifications on a connection of its own, and reconnects when that breaks, until `left` emits. */
export async function listen(
  pool: Pool,
  channel: string,
  { woken, left, scheduler }: Listener,
): Promise<void> {
  const state = { hasLeft: false };
  const leaving = firstValueFrom(left).then(() => (state.hasLeft = true));
  while (!state.hasLeft) {
    const client = await pool.connect().catch(() => undefined);
    if (client !== undefined) {
      const broken = new Promise<void>((resolve) => client.once('error', () => resolve()));
      client.on('notification', ({ payload = '' }) => woken(payload));
      await client.query(`listen ${channel}`).then(
        async () => {
          woken('');
          await Promise.race([broken, leaving]);
        },
        () => undefined,
      );
      client.release(true);
    }
    await Promise.race([leaving, firstValueFrom(timer(againMs, scheduler))]);
  }
}
