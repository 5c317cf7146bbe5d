import {
  formatMoney,
  toMicroDollars,
  toUsd,
  type MicroDollars,
} from '../../../src/contract/micro-dollars.js';
import { reasonOf, remedyOf } from '../disk/disk-fault.js';
import type { LedgerSnapshot } from '../ledger/ledger.js';
import type { Priced } from '../ledger/price-book.js';
import type { Failed } from '../../../src/contract/outcome.js';
import type { StopCause } from './stops.js';
import type { OutcomeRecord } from '../journal/record.js';
import type { StartCounts } from '../row/totals.js';

/** Each stop with its exit code, and a sentence on how to continue. */
export const stopCauses = {
  capReached({ cap = 0, spent, reserved, unknown }: LedgerSnapshot): StopCause {
    const reason = `Stopped at the cost cap of ${formatMoney(cap)}: ${formatMoney(spent + reserved + unknown)} were spent, reserved or in doubt, and the next row did not fit. Run again with a higher cap to go on.`;
    return { exitCode: 3, reason, caps: [{ option: 'max-cost', usd: toUsd(cap) }], leaves: [] };
  },

  /** A row that arrived has a price, and no cap is set. Without `hasSent` nothing was sent. */
  notAgreed(why: string, hasSent: boolean): StopCause {
    const reason = `Stopped: ${why}. Rows from this one on were not sent; run again to go on.`;
    return { exitCode: hasSent ? 3 : 2, reason, leaves: [] };
  },

  /** @param whyNot says what does not fit, and when it will: at the end of the run, when its reservations have become costs */
  dayCapReached(cap: MicroDollars, whyNot: () => string): StopCause {
    return {
      exitCode: 3,
      get reason() {
        return `Stopped at the cost cap of a day: ${whyNot()} Run again then, or with a higher cap, to go on.`;
      },
      caps: [{ option: 'max-cost-per-day', usd: toUsd(cap) }],
      leaves: [],
    };
  },

  priceDrifted(what: string, drift: number, limitPercent: number): StopCause {
    const over = Number.isFinite(drift)
      ? `${Math.round(drift * 1000) / 10} % over the estimate`
      : 'the estimate was $0.00';
    const reason = `Stopped because the service charges more for ${what} than expected: ${over}, and ${limitPercent} % is allowed. Correct the prices (--prices) or allow more (--max-price-drift), and run again to go on.`;
    return { exitCode: 3, reason, leaves: [] };
  },

  /** Rows whose price is in no list have cost more in this start than anybody has agreed to. */
  spentUnagreed({ spent, agreed }: Readonly<Record<'spent' | 'agreed', MicroDollars>>): StopCause {
    const reason = `Stopped because rows without a listed price have cost ${formatMoney(spent)} in this start, and nobody has agreed to more than ${formatMoney(agreed)}. Run again, with --yes or a cap (--max-cost) where it cannot ask, to go on.`;
    return { exitCode: 3, reason, leaves: ['open'] };
  },

  /** @param what what was bought */
  costDisbelieved(
    id: string,
    what: string,
    { cost, disbelieved }: { readonly cost: MicroDollars | null; readonly disbelieved: string },
  ): StopCause {
    const booked =
      cost === null
        ? 'No price is known, and nothing is booked for it'
        : `${formatMoney(cost)} is booked for it`;
    const reason = `Stopped because the service reports a cost of ${disbelieved} for row "${id}" (${what}), which is not believed as US dollars. ${booked}. Look at the account of the service; if it does cost that much, correct the prices (--prices). Run again to go on.`;
    return { exitCode: 3, reason, leaves: [] };
  },

  keyRefused(message: string): StopCause {
    const reason = `Stopped because the service refuses the API key (${message}). Put the key right and run again; accepted jobs have been polled to their end.`;
    return { exitCode: 4, reason, leaves: ['open'] };
  },

  paymentRequired(message: string): StopCause {
    const reason = `Stopped because the service asks for payment before it works on (${message}). Look at the credit of the account and run again; accepted jobs have been polled to their end.`;
    return { exitCode: 4, reason, leaves: ['open'] };
  },

  uploadRefused(message: string): StopCause {
    const reason = `Stopped because ${message}. Rows with pictures of this machine are left to be done, and none of them has been paid for: check bucket and credentials (AWS_ACCESS_KEY_ID, AWS_PROFILE …) and run again.`;
    return { exitCode: 4, reason, leaves: ['open'] };
  },

  /** The service can be reached: what it has accepted is awaited. */
  uploadUnreachable(message: string): StopCause {
    const reason = `Stopped because ${message}. Run again later: rows with pictures of this machine are left to be done, and none of them has been paid for.`;
    return { exitCode: 69, reason, leaves: ['open'] };
  },

  insecure(message: string): StopCause {
    const reason = `Stopped because the service cannot be talked to safely (${message}). Check its address and certificate and run again.`;
    return { exitCode: 4, reason, leaves: ['open', 'accepted'] };
  },

  noEndpointLeft(endpoints: readonly string[], message: string): StopCause {
    const reason = `Stopped because no endpoint is left that rows could be sent to: ${endpoints.join(', ')} (${message}). Check the endpoint and run again.`;
    return { exitCode: 4, reason, leaves: ['open'] };
  },

  halted(failed: number): StopCause {
    const reason = `Stopped by --halt after ${failed === 1 ? '1 failed row' : `${failed} failed rows`}. See failures.jsonl; run again to go on with the others.`;
    return { exitCode: 5, reason, leaves: ['open'] };
  },

  unreachable(message: string): StopCause {
    const reason = `Stopped because nothing gets through to the service (${message}). Run again later: rows are left, and none of them has been paid for.`;
    return { exitCode: 69, reason, leaves: ['open', 'accepted'] };
  },

  /** @param code the system's error code: no connection could be opened */
  tooManyOpen(code: 'EMFILE' | 'ENFILE'): StopCause {
    const reason = `Stopped because no connection can be opened: ${reasonOf(code)}. What has been done is kept. ${remedyOf(code)}, or give a lower --concurrency, and run again.`;
    return { exitCode: 74, reason, leaves: ['open', 'accepted'] };
  },

  /** @param message what happened to the last of them */
  undecided(posts: number, message: string): StopCause {
    const reason = `Stopped because ${posts} requests in a row may have been accepted, and none had an answer that says so: further ones could be paid for nothing (${message}). Look at the account of the service, put the cause right, and run again; millrace settle lists the rows in doubt.`;
    return { exitCode: 6, reason, leaves: ['open'] };
  },

  /** @param code the system's error code, if there is one */
  diskFailed(message: string, code?: string): StopCause {
    const reason = `Stopped because the disk failed: ${message.replace(/\.$/, '')}. What has been done is kept. ${remedyOf(code)} and run the same command again.`;
    return { exitCode: 74, reason, leaves: ['open', 'accepted', 'replied'] };
  },

  /** @param isSending whether this start has sent rows of the manifest */
  manifestChanged(message: string, isSending: boolean): StopCause {
    const reason = `Stopped because the manifest changed after it was checked and priced: ${message}. ${sentBefore(isSending)}. Run again: the next start checks and prices it as it is then.`;
    return { exitCode: isSending ? 74 : 2, reason, leaves: ['open'] };
  },

  /** The manifest could be read when it was checked and priced, but not later. */
  manifestUnread(message: string, isSending: boolean): StopCause {
    const reason = `Stopped because ${message}. ${sentBefore(isSending)}. Put it right and run the same command again to go on.`;
    return { exitCode: isSending ? 74 : 2, reason, leaves: ['open'] };
  },

  interrupted(how: 'graceful' | 'now', exitCode: number): StopCause {
    const reason = 'Interrupted. Run the same command again to go on.';
    const leaves = ['open', 'accepted', 'replied'] as const;
    return { exitCode, reason, leaves: how === 'now' ? [...leaves, 'sent'] : leaves };
  },
} as const;

function sentBefore(isSending: boolean): string {
  return isSending ? 'Rows before that place were sent, no other is' : 'Nothing was sent';
}

/** Why a run stops when the service has accepted nothing in any try: by the code of the last refusal. */
export function whyRefused(refusal: Pick<Failed, 'code' | 'message' | 'httpStatus'>): StopCause {
  const { code, message } = refusal;
  if (code === 'unauthorized') return stopCauses.keyRefused(message);
  if (isOutOfCredit(refusal)) return stopCauses.paymentRequired(message);
  return code === 'insecure' ? stopCauses.insecure(message) : stopCauses.unreachable(message);
}

/** The account has to be paid for first: waiting does not help, as it does after other refusals. */
export function isOutOfCredit({ code, httpStatus }: Pick<Failed, 'code' | 'httpStatus'>): boolean {
  return code === 'refused' && httpStatus === 402;
}

/** Why a run stops once the service knows none of its endpoints; `undefined` while rows can be sent somewhere. */
export function whyBlocked(
  { endpoints, hasRoutes }: { readonly endpoints: readonly string[]; readonly hasRoutes: boolean },
  blocked: readonly string[],
  message: string,
): StopCause | undefined {
  const isAll = !hasRoutes && endpoints.every((endpoint) => blocked.includes(endpoint));
  return isAll ? stopCauses.noEndpointLeft(blocked, message) : undefined;
}

export function purchaseName({ endpoint, resolution, kind }: Priced): string {
  return [endpoint, resolution].filter(Boolean).join(' at ') || kind;
}

/** Why a run stops when a price has drifted further than is allowed; rounding errors of binary fractions do not count. */
export function whyDrifted(priced: Priced, drift: number, limitPercent: number): StopCause | undefined {
  if (drift * 100 - limitPercent <= 1e-6) return undefined;
  return stopCauses.priceDrifted(purchaseName(priced), drift, limitPercent);
}

/**
 * Why a run stops at the first price that is reported for rows without a known price: together they cost more than was
 * agreed to.
 */
export function whyUnagreed(
  priced: Priced,
  reported: MicroDollars,
  { rows, mostUsd }: { readonly rows: number; readonly mostUsd: number },
): StopCause | undefined {
  if (reported * rows <= toMicroDollars(mostUsd)) return undefined;
  const reason = `Stopped because the service charges ${formatMoney(reported)} for ${purchaseName(priced)}, whose price was not known: ${rows} such rows cost ${formatMoney(reported * rows)}, and nobody has agreed to that. Run again, with --yes or a cap (--max-cost) where it cannot ask, to go on.`;
  return { exitCode: 3, reason, leaves: ['open'] };
}

/** Once this many rows have ended, a percentage of them is meaningful. */
const enoughEnded = 20;

/** The options that can stop a run at the end of a row. */
interface HaltOptions {
  readonly halt?: { readonly count: number } | { readonly percent: number } | undefined;
}

interface RowEnd {
  readonly rows: number;
  /** What this start has done, with the row that ended. */
  readonly start: Pick<StartCounts, 'ended' | 'failed' | 'invalid' | 'leftUnknown'>;
  readonly outcome: Pick<OutcomeRecord, 'id' | 'status' | 'cost' | 'source'>;
}

/**
 * Why the run stops now that a row has ended; `undefined` if it goes on. Each option that stops a run so is asked here.
 * `halt` stops it when too many rows of this start have failed. A percentage is of the rows to do, and of those that have
 * ended once there are enough of them. Rows that this start did not send do not count: invalid ones, and those that an
 * earlier start left in doubt.
 */
export function whyHalted({ halt }: HaltOptions, { rows, start }: RowEnd): StopCause | undefined {
  const ended = start.ended - start.leftUnknown;
  const failed = start.failed - start.invalid - start.leftUnknown;
  if (halt === undefined || failed === 0) return undefined;
  const isOver = (percent: number, of: number): boolean => failed * 100 >= percent * of;
  const isHalted =
    'count' in halt
      ? failed >= halt.count
      : (rows > 0 && isOver(halt.percent, rows)) || (ended >= enoughEnded && isOver(halt.percent, ended));
  return isHalted ? stopCauses.halted(failed) : undefined;
}
