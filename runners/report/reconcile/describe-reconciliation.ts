import { formatMoney, toUsd } from '../../../src/contract/micro-dollars.js';
import { countOf } from '../messages/format-amounts.js';
import { firstOf } from '../../batch/manifest/quote-value.js';
import type { Charge } from './read-charges.js';
import type { Purchase } from '../read/read-costs.js';
import type { Reconciliation } from './reconcile-run.js';

/** The most lines of each section. */
const shown = 200;

/** A reconciliation line by line, for people. Ids are not escaped: the caller makes them safe for a terminal. */
export function describeReconciliation(found: Reconciliation): string[] {
  const { totals, matched, byHand, differing, onlyInRun, onlyInStatement, held, elsewhere } = found;
  return [
    `The run booked ${formatMoney(totals.booked)}${totals.unknown > 0 ? ` and holds ${formatMoney(totals.unknown)} in doubt` : ''}; the statement charges ${formatMoney(totals.charged)} for it.`,
    `${countOf(matched, 'purchase')} ${matched === 1 ? 'is' : 'are'} in both at the same price.`,
    ...(byHand.length > 0
      ? [
          `${countOf(byHand.length, 'purchase')} settled by hand ${byHand.length === 1 ? 'has' : 'have'} a charge of the same price.`,
        ]
      : []),
    ...section(
      'charged at another price',
      differing,
      ({ purchase, charge }) =>
        `${nameOf(purchase)}: booked ${formatMoney(purchase.cost)}, charged ${formatMoney(charge.amount)}, ${placeOf(charge)}`,
    ),
    ...section(
      'booked and not charged',
      onlyInRun,
      (purchase) =>
        `${nameOf(purchase)}: ${formatMoney(purchase.cost)}, ${purchase.source}, job ${purchase.jobId === '' ? 'unknown' : purchase.jobId}`,
    ),
    ...section(
      'charged and not booked',
      onlyInStatement,
      (charge) =>
        `${charge.jobId === '' ? 'without a job id' : `job ${charge.jobId}`}: ${formatMoney(charge.amount)}, ${placeOf(charge)}`,
    ),
    ...section('in doubt', held, (one) => `${nameOf(one.purchase)}: ${suspicion(one, held)}`),
    ...(elsewhere.count > 0
      ? [
          `${countOf(elsewhere.count, 'charge')} of other times, ${formatMoney(elsewhere.amount)}, were ignored.`,
        ]
      : []),
    ...(found.isEven ? ['The books are even.'] : []),
  ];
}

function section<T>(title: string, items: readonly T[], line: (item: T) => string): string[] {
  if (items.length === 0) return [];
  const rest = items.length - shown;
  return [
    `${countOf(items.length, 'purchase')} ${title}:`,
    ...items.slice(0, shown).map((item) => `  ${line(item)}`),
    ...(rest > 0 ? [`  … and ${countOf(rest, 'more', 'more')}`] : []),
  ];
}

function suspicion(one: Reconciliation['held'][number], held: Reconciliation['held']): string {
  const { charges, hasMore, isEarlier, purchase } = one;
  const { attempt, jobId } = purchase;
  const [first, second] = charges;
  if (jobId !== '' && !isEarlier)
    return first === undefined
      ? `no charge for its job ${jobId}, which may not have ended by then: the next start asks for it`
      : `its job ${jobId} was charged ${formatMoney(first.amount)}, ${placeOf(first)}`;
  const which = isEarlier ? `--attempt ${attempt} ` : '';
  if (first === undefined)
    return (
      whyBlind(one) ??
      `no charge looks like it; it was most likely not bought (settle it with ${which}--not-sent)`
    );
  const rivals = second === undefined ? held.filter(({ mayBe }) => mayBe(first)).length - 1 : 0;
  if (rivals > 0) return `may be ${longNameOf(first)}, and so may ${countOf(rivals, 'other purchase')}`;
  const how = isEarlier || first.jobId === '' ? `${which}--paid ${usdOf(first)}` : `--job ${first.jobId}`;
  if (second === undefined) return `most likely ${longNameOf(first)} (settle it with ${how})`;
  const names = charges.slice(0, 3).map(nameOfCharge);
  return `one of ${hasMore ? 'more than ' : ''}${countOf(charges.length, 'charge')}: ${firstOf(names, charges.length)}`;
}

/** Why a charge that is missing proves nothing; `undefined`: it shows that the purchase was not made. */
export function whyBlind({
  isBeyond,
  isForeign,
  isPartial,
}: Pick<Reconciliation['held'][number], 'isBeyond' | 'isForeign' | 'isPartial'>): string | undefined {
  if (isBeyond) return 'the statement ends before its request was sent: a newer one may have its charge';
  if (isForeign)
    return 'the statement has none of the jobs that the run paid for, so it proves nothing: is it of this account? (--job-column names the column of the job ids)';
  return isPartial
    ? 'the statement lacks jobs that the run paid for, and may lack its charge as well: take one with all pages and endpoints'
    : undefined;
}

/** The job of a charge, or its line if it names none. */
export function nameOfCharge({ jobId, lines }: Charge): string {
  return jobId === '' ? `line ${lines[0] ?? 0}` : `job ${jobId}`;
}

function longNameOf(charge: Charge): string {
  return charge.jobId === '' ? placeOf(charge) : `${nameOfCharge(charge)}, ${placeOf(charge)}`;
}

function usdOf({ amount }: Charge): string {
  return String(toUsd(amount));
}

function nameOf({ id, row, attempt }: Purchase): string {
  return `${id} (row ${row}${attempt > 1 ? `, attempt ${attempt}` : ''})`;
}

function placeOf({ lines }: Charge): string {
  return lines.length === 1
    ? `line ${lines[0] ?? 0} of the statement`
    : `lines ${firstOf(lines.slice(0, 10), lines.length)} of the statement`;
}
