import { toUsd } from '../../../src/contract/micro-dollars.js';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { dayMs, minuteMs, type DayBook } from './day-book.js';

/** What has been bought since nobody can tell: it counts, until a person says otherwise. */
const fromTheFuture =
  ' Lines of that file lie in the future: the clock was wrong when they were written. Once their purchases are older than 24 hours, remove those lines.';

interface Wanted {
  readonly price: MicroDollars;
  readonly cap: MicroDollars;
  /** Whose reservation it would be. */
  readonly run: string;
  /** Of the shared ledger. */
  readonly path: string;
  /** ms since the epoch. */
  readonly now: number;
}

/** Why a price does not fit under the cap of a day, who takes the room, and when there will be some. */
export function whyNoRoom(book: DayBook, { price, cap, run, path, now }: Wanted): string {
  const { spent, reserved } = book;
  const others = book.outstanding().filter((reservation) => reservation.run !== run);
  const at = book.roomAt(spent + reserved + price - cap);
  const when =
    at === undefined
      ? 'It will not fit at all.'
      : `It will fit at ${new Date(at).toISOString()} at the latest.`;
  // What is spent now leaves with the end of its minute.
  const isFromTheFuture = at !== undefined && at > now + dayMs + minuteMs;
  return (
    `${dollars(price)} does not fit under the ${dollars(cap)} a day of ${path}: in the last 24 hours ${dollars(spent)} were spent, ` +
    `and ${dollars(reserved)} are reserved${sharesOf(others)}. What a run leaves reserved when it dies is freed by its next start, or after 24 hours. ${when}${isFromTheFuture ? fromTheFuture : ''}`
  );
}

function sharesOf(others: readonly { readonly run: string; readonly amount: MicroDollars }[]): string {
  const [first, ...rest] = new Set(others.map(({ run }) => run));
  if (first === undefined) return '';
  const sum = others.reduce((total, { amount }) => total + amount, 0);
  return ` (${dollars(sum)} of it by ${first}${rest.length > 0 ? ` and ${rest.length} more` : ''})`;
}

function dollars(amount: MicroDollars): string {
  return `$${toUsd(amount)}`;
}
