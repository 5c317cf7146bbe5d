import * as z from 'zod';
import { parseLatency } from '../../emulator/settings/parse-latency.js';
import { parseFaults } from '../../emulator/faults/parse-faults.js';
import { parseRateLimit } from '../../emulator/faults/rate-limit.js';
import { optionValue } from './option-value.js';

/** The options of the emulator, as `serve` and `--local` take them. */
export const emulatorFlags = {
  functions: z.string().min(1, 'is empty: name a module').optional(),
  workers: optionValue.wholeNumber(1, 1000).optional(),
  latency: optionValue.parsedBy(parseLatency).optional(),
  faults: optionValue.parsedBy(parseFaults).optional(),
  rateLimit: optionValue.parsedBy(parseRateLimit).optional(),
  seed: optionValue.wholeNumber(0, 4_294_967_295).optional(),
};

export type EmulatorFlags = {
  readonly [Name in keyof typeof emulatorFlags]?: z.output<(typeof emulatorFlags)[Name]>;
};
