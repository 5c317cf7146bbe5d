import * as z from 'zod';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';

const amount = z.number().nonnegative();
const owned = { at: z.number(), run: z.string(), id: z.string() };

/** One line of the shared ledger file. `at` in ms since the epoch, amounts in millionths of a dollar. */
export const dayEntrySchema = z.discriminatedUnion('k', [
  /** First line. The name is another one each time the file is made or rewritten: who has read an older one begins anew. */
  z.object({ k: z.literal('ledger'), format: z.literal(1), name: z.string() }),
  z.object({ k: z.literal('reserve'), ...owned, amount }),
  /** Ends the row's latest reservation. */
  z.object({ k: z.literal('settle'), ...owned, amount }),
  z.object({ k: z.literal('release'), ...owned }),
  /** Written by a compaction: what was settled within one minute. */
  z.object({ k: z.literal('spent'), at: z.number(), amount }),
]);
export type DayEntry = z.infer<typeof dayEntrySchema>;

/** A reservation that its run has not ended yet. */
export interface Reservation {
  readonly at: number;
  readonly run: string;
  readonly id: string;
  readonly amount: MicroDollars;
}
