import { resolve } from 'node:path';
import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import { minuteMs } from '../../ledger/day-book.js';
import { type DayLedger, openDayLedger } from '../../ledger/day-ledger.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Journal } from '../../journal/journal.js';
import { exitOf } from '../../stop/exit-of.js';
import type { SharedMoney } from '../../context/purchase-context.js';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import { stopCauses } from '../../stop/stop-causes.js';
import type { StopCause, Stops } from '../../stop/stops.js';
import { folderOf, type Disk } from '../../disk/disk.js';
import { DayLedgerError } from '../../ledger/day-file.js';
import { LockError } from '../../lock/owner.js';
import { withFileLock } from '../../lock/try-lock-file.js';

/** A run's access to the ledger that runs share: settlements and releases in the run's own ledger are booked there as well. */
export class DayMoney implements SharedMoney {
  private readonly reserved = new Map<string, Promise<boolean>>();
  private readonly writing = new Set<Promise<unknown>>();

  /** @param fault called with an error in reading or writing the shared ledger; nothing more may be sent then */
  constructor(
    private readonly shared: DayLedger,
    private readonly fault: (error: unknown) => void,
  ) {}

  /**
   * Resolves to false if the price does not fit, or if the ledger cannot be used. An unknown price counts as 0 until it
   * is known.
   */
  reserve(id: string, price: MicroDollars | null): Promise<boolean> {
    const fits = this.shared.reserve(id, price ?? 0).catch((error: unknown) => {
      this.fault(error);
      return false;
    });
    this.reserved.set(id, fits);
    return fits;
  }

  whyStop(price: MicroDollars | null): StopCause {
    return stopCauses.dayCapReached(this.shared.snapshot().cap, () => this.shared.whyNot(price ?? 0));
  }

  /**
   * Wraps the run's own ledger, so that its settlements and releases are booked in the shared one too. Purchases that
   * may have been made stay reserved there.
   */
  behind(ledger: Ledger): Ledger {
    return {
      isDecidedElsewhere: ledger.isDecidedElsewhere ?? false,
      reserve: (id, price, row) => ledger.reserve(id, price, row),
      fullValue: (price, row) => ledger.fullValue?.(price, row),
      takenBy: (row) => ledger.takenBy?.(row) ?? [],
      settle: (id, cost) => {
        ledger.settle(id, cost);
        this.reserved.delete(id);
        if (cost !== null) this.write(this.shared.settle(id, cost));
      },
      release: (id) => {
        ledger.release(id);
        this.release(id);
      },
      keepUnknown: (id) => {
        ledger.keepUnknown(id);
        this.reserved.delete(id);
      },
      hold: (id, price, row) => ledger.hold(id, price, row),
      snapshot: () => ledger.snapshot(),
    };
  }

  /** The cap, and the money that all runs have taken in the last 24 hours. */
  taken(): { readonly cap: MicroDollars; readonly taken: MicroDollars } {
    const { cap, spent, reserved } = this.shared.snapshot();
    return { cap, taken: spent + reserved };
  }

  /** Resolves when all pending bookings are in the shared ledger. */
  async flush(): Promise<void> {
    await Promise.all(this.writing);
  }

  /** Releases only what this start reserved: an older reservation of the row may stand for a purchase. */
  private release(id: string): void {
    const reserved = this.reserved.get(id);
    if (reserved === undefined) return;
    this.reserved.delete(id);
    this.write(reserved.then((fits) => (fits ? this.shared.release(id) : undefined)));
  }

  private write(work: Promise<void>): void {
    const written = work.catch(this.fault).finally(() => this.writing.delete(written));
    this.writing.add(written);
  }
}

/**
 * Ends the reservations in the shared ledger that earlier starts of this run left, if the journal knows how their rows
 * ended. Reservations for purchases that may have been made stay, also where a repaired journal may have lost them, and so do those
 * of a run that was in the folder before: also if its clock was ahead, so that they seem to be made after `now`. If the clock was
 * set back, what this run has reserved seems so too, up to the time of its last record.
 */
export async function reconcileDay(
  shared: DayLedger,
  journal: Pick<Journal, 'recovered' | 'find' | 'records'>,
  now = Infinity,
): Promise<void> {
  const { recovered } = journal;
  const { firstStartAt = Infinity, mustHold } = recovered;
  const outstanding = await shared.outstanding();
  const until = outstanding.some(({ at }) => at > now) ? await latestOf(journal, now) : now;
  const open = new Map<string, number>();
  for (const { id, at } of outstanding) {
    if (at < firstStartAt || at > until || mustHold(id, 0)) continue;
    const status = recovered.rows.get(id)?.status ?? 'open';
    if (status === 'sent' || status === 'accepted') continue;
    if (status === 'open') {
      open.set(id, (open.get(id) ?? 0) + 1);
      continue;
    }
    const found = await journal.find(id);
    // If the row was bought more than once, it is not known which purchase this reservation is for.
    if (found === undefined || found.attempts > 1) continue;
    const end = status === 'replied' ? found.reply : found.outcome;
    if (end === undefined || end.source === 'unknown' || end.cost === null) continue;
    await shared.settle(id, end.cost);
  }
  const held = await heldPurchases(journal, open);
  for (const [id, reserved] of open)
    for (let left = reserved - (held.get(id) ?? 0); left > 0; left--) await shared.release(id);
}

/** When the run has reserved last, by its own clock, which may have been set back since. */
async function latestOf(journal: Pick<Journal, 'records'>, now: number): Promise<number> {
  let latest = now;
  for await (const { at } of journal.records()) latest = Math.max(latest, at);
  // A row is reserved before its first record.
  return latest > now ? latest + minuteMs : now;
}

/** For each of these rows that are to be sent again: how many purchases may have been made. */
async function heldPurchases(
  journal: Pick<Journal, 'recovered' | 'records'>,
  rows: ReadonlyMap<string, unknown>,
): Promise<ReadonlyMap<string, number>> {
  const held = new Map<string, number>();
  // Reads the journal only if one of them was sent before.
  if (![...rows.keys()].some((id) => (journal.recovered.rows.get(id)?.attempts ?? 0) > 0)) return held;
  const unknownRows = new Set<string>();
  const add = (id: string, purchases: 1 | -1) => held.set(id, (held.get(id) ?? 0) + purchases);
  for await (const record of journal.records()) {
    if (!('id' in record) || !rows.has(record.id)) continue;
    const { k, id } = record;
    if (k === 'reopen' && record.to === 'buy' && record.why !== 'settle' && unknownRows.has(id)) add(id, 1);
    if (k === 'freed' && record.source === 'none') add(id, -1);
    if (k === 'outcome' && record.source === 'unknown') unknownRows.add(id);
    else if (k !== 'freed') unknownRows.delete(id);
  }
  return held;
}

/** Opens the ledger that runs share, if the run uses it, and reconciles what earlier starts left there. */
export async function openDay(
  { dayLedger, scheduler }: Pick<ResolvedOptions, 'dayLedger' | 'scheduler'>,
  stops: Stops,
  journal: Journal,
): Promise<DayMoney | undefined> {
  if (dayLedger === undefined) return undefined;
  const shared = await dayLedger();
  await reconcileDay(shared, journal, scheduler.now());
  return new DayMoney(shared, (error) => stops.stop({ ...exitOf(error), leaves: ['open'] }));
}

interface SharedLedgerOptions {
  readonly disk: Disk;
  readonly now: () => number;
  readonly countedBy?: () => number;
  /** The output folder: it names the run that owns the reservations. */
  readonly out: string;
  readonly path: string;
  readonly capUsd: number | undefined;
}

/** The cap of a run without one of its own: it may reserve any amount, which counts for runs that have a cap. */
const noCapUsd = 1e9;

/** Opens the ledger that runs share. Only one process at a time uses it, by a lock file beside it. */
export async function openSharedLedger(options: SharedLedgerOptions): Promise<DayLedger> {
  const { disk, now, countedBy, out, capUsd = noCapUsd } = options;
  const path = resolve(options.path);
  await disk.mkdir(folderOf(path)).catch((cause: unknown) => {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new DayLedgerError(`The folder of the shared ledger ${path} cannot be made: ${message}.`, code, {
      cause,
    });
  });
  const exclusively = <T>(work: () => Promise<T>): Promise<T> =>
    withFileLock(`${path}.lock`, work).catch((error: unknown) => {
      // This is not the run's own lock, and has another exit code.
      throw error instanceof LockError
        ? new DayLedgerError(error.message, undefined, { cause: error })
        : error;
    });
  return openDayLedger({
    disk,
    path,
    capUsd,
    run: resolve(out),
    exclusively,
    now,
    ...(countedBy && { countedBy }),
  });
}
