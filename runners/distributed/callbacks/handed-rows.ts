import type { Pool } from 'pg';
import type { WebhookReceiver } from '../../../src/webhooks/create-webhook-receiver.js';
import { dropHanded, readBody, readHanded, type HandedCallback } from './handed-callbacks.js';

interface Parts {
  readonly pool: Pool;
  /** Its number in the database, and its name in addresses. */
  readonly run: number;
  readonly name: string;
  readonly receiver: Pick<WebhookReceiver, 'deliver'>;
  /** Called with a callback that nobody takes in now: it stays in the database. */
  readonly left: (callback: HandedCallback) => void;
}

/** Takes in callbacks about rows of this worker that came to other processes. One is gone from the database once what follows is durable. */
export class HandedRows {
  private wanted = new Set<string>();
  private readonly taking = new Set<string>();
  private looking: Promise<void> | undefined;

  constructor(private readonly parts: Parts) {}

  /** There may be callbacks about these rows. */
  look(rows: Iterable<string>): void {
    for (const row of rows) this.wanted.add(row);
    if (this.wanted.size > 0) this.looking ??= this.work();
  }

  private async work(): Promise<void> {
    const { pool, run } = this.parts;
    while (this.wanted.size > 0) {
      const rows = [...this.wanted];
      this.wanted = new Set();
      // What is missed while the database is away is found by the next look.
      const found = await readHanded(pool, run, rows).catch(() => []);
      for (const handed of found) void this.take(handed).catch(() => undefined);
    }
    // At once: what is wanted from here on begins anew.
    this.looking = undefined;
  }

  private async take(handed: HandedCallback): Promise<void> {
    const { digest, row, attempt } = handed;
    if (this.taking.has(digest)) return;
    this.taking.add(digest);
    try {
      const { pool, run, name, receiver, left } = this.parts;
      const body = await readBody(pool, run, digest);
      if (body === undefined) return;
      if ((await receiver.deliver({ run: name, row, attempt, body })) === undefined) left(handed);
      else await dropHanded(pool, run, [digest]);
    } finally {
      this.taking.delete(digest);
    }
  }
}
