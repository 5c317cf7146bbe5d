import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RowStatus } from './row-status.js';

/**
 * How a row's latest purchase is booked, as one byte. `paid…`: the row has a reply but has not ended, so its purchase is in no
 * file yet.
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

/** The books of one row. The tally changes them with each record of the row. */
export interface RowBooks {
  status: RowStatus;
  /** How its latest purchase is booked. */
  booking: Booking;
  /** The booked amount, in millionths of a dollar; 0 if no price is known. */
  amount: MicroDollars;
  isUnpriced: boolean;
  account: number;
}

/** What each booking of a reply becomes when the row ends. */
export const endedBookings: Partial<Record<Booking, Booking>> = {
  [bookings.paidReported]: bookings.reported,
  [bookings.paidEstimated]: bookings.estimated,
  [bookings.paidUnknown]: bookings.unknown,
};

/** The amount booked for the row; NaN if no price is known. */
export function amountOf({ isUnpriced, amount }: Pick<RowBooks, 'isUnpriced' | 'amount'>): number {
  return isUnpriced ? Number.NaN : amount;
}

export function clear(row: RowBooks): void {
  if (row.booking === bookings.none) return;
  row.booking = bookings.none;
  row.amount = 0;
  row.isUnpriced = false;
}

/** Whether the purchase may have been made. */
export function isUnknown(booking: Booking): boolean {
  return booking === bookings.unknown || booking === bookings.paidUnknown;
}

/** Whether the cost of the purchase is known. */
export function isSpent(booking: Booking): boolean {
  return (
    booking === bookings.reported ||
    booking === bookings.estimated ||
    booking === bookings.paidReported ||
    booking === bookings.paidEstimated
  );
}
