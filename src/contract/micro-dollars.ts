import type { Resolution } from './image-edit.js';

/** Money inside millrace: integer millionths of a US dollar. */
export type MicroDollars = number;

/** 0.0875 → 87500. Rounds to the nearest millionth. */
export function toMicroDollars(usd: number): MicroDollars {
  return Math.round(usd * 1_000_000);
}

/** 87500 → 0.0875, as it stands in files. */
export function toUsd(microDollars: MicroDollars): number {
  return microDollars / 1_000_000;
}

/** For people, to the digit and at least in cents: 87500 → `$0.0875`, 26250000 → `$26.25`, 1234000000 → `$1,234.00`. */
export function formatMoney(microDollars: MicroDollars): string {
  const whole = Math.round(Math.abs(microDollars));
  const dollars = String(Math.trunc(whole / 1_000_000)).replace(/\B(?=(\d{3})+$)/g, ',');
  const digits = String(whole % 1_000_000).padStart(6, '0');
  return `${microDollars < 0 ? '-' : ''}$${dollars}.${digits.replace(/0{1,4}$/, '')}`;
}

/** Published price of one edited picture in millionths of a dollar. What the service reports is the truth. (spec 8) */
export const imageEditPrices = { '1k': 87_500, '2k': 130_000, '4k': 175_000 } as const satisfies Record<
  Resolution,
  MicroDollars
>;
