import type { Resolution } from './image-edit.js';
import type { MicroDollars } from './micro-dollars.js';

/** Published price of one edited picture in millionths of a dollar. What the service reports is the truth. (spec 8) */
export const imageEditPrices = { '1k': 87_500, '2k': 130_000, '4k': 175_000 } as const satisfies Record<
  Resolution,
  MicroDollars
>;
