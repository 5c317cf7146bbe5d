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
  undo: z.boolean().default(false),
  attempt: optionValue.wholeNumber(1, 65_535).optional(),
  statement: z.string().min(1, 'is empty: name a file').optional(),
  jobColumn: z.string().min(1).optional(),
  amountColumn: z.string().min(1).optional(),
  timeColumn: z.string().min(1).optional(),
  yes: z.boolean().default(false),
  baseUrl: optionValue.host().optional(),
  apiKeyFile: z.string().optional(),
  db: optionValue.database().optional(),
});

export type SettleOptions = z.output<typeof settleOptionsSchema>;
