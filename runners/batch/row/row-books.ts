import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RowStatus } from './row-status.js';

/**
 * What a row's latest purchase counts as. `paid…` is what a reply says of a row that has not ended: it stands in no file yet.
 * One byte in the table of rows.
 */
export const bookings = {
  none: 0,
  reserved: 1,
  reported: 2,
  estimated: 3,
  unknown: 4,
  paidReported: 5,
  paidEstimated: 6,
  paidUnknown: 7,
} as const;
export type Booking = (typeof bookings)[keyof typeof bookings];

/** What the tally knows of one row. The tally changes it with each record of the row. */
export interface RowBooks {
  status: RowStatus;
  /** What its latest purchase counts as. */
  booking: Booking;
  /** What is booked for it, in millionths of a dollar; 0 where no price is known. */
  amount: MicroDollars;
  isUnpriced: boolean;
  /** Place of its account. */
  account: number;
}

/** What a booking of a reply becomes when its row ends. */
export const endedBookings: Partial<Record<Booking, Booking>> = {
  [bookings.paidReported]: bookings.reported,
  [bookings.paidEstimated]: bookings.estimated,
  [bookings.paidUnknown]: bookings.unknown,
};

/** What is booked for the row; NaN where no price is known. */
export function amountOf({ isUnpriced, amount }: Pick<RowBooks, 'isUnpriced' | 'amount'>): number {
  return isUnpriced ? Number.NaN : amount;
}

/** Books nothing for the row. */
export function clear(row: RowBooks): void {
  if (row.booking === bookings.none) return;
  row.booking = bookings.none;
  row.amount = 0;
  row.isUnpriced = false;
}

/** Whether it may have been bought. */
export function isUnknown(booking: Booking): boolean {
  return booking === bookings.unknown || booking === bookings.paidUnknown;
}

/** Whether its cost is known. */
export function isSpent(booking: Booking): boolean {
  return (
    booking === bookings.reported ||
    booking === bookings.estimated ||
    booking === bookings.paidReported ||
    booking === bookings.paidEstimated
  );
}
