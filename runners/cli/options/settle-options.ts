import * as z from 'zod';
import { optionValue } from './option-value.js';

/** How a held row ended. */
export const settleOptionsSchema = z.object({
  job: z
    .string()
    .regex(/^[\u0021-\u007e]+$/, 'is no job id: it is empty, or holds a space or a control character')
    .optional(),
  paid: optionValue.usd().optional(),
  notSent: z.boolean().default(false),
  db: optionValue.database().optional(),
});

export type SettleOptions = z.output<typeof settleOptionsSchema>;
