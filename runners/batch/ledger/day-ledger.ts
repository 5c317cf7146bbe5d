import { formatMoney, toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../disk/disk.js';
import { stateFolder } from '../disk/node-disk.js';
import { someOf } from '../manifest/quote-value.js';
import { type DayEntry, type Reservation, dayMs, minuteMs, type DayBook } from './day-book.js';
import { DayFile, DayLedgerError } from './day-file.js';

export interface DayLedgerOptions {
  readonly disk: Disk;
  readonly path: string;
  /** The cap in US dollars for all runs that share the file, over 24 hours: no reservation goes beyond it. */
  readonly capUsd: number;
  /** The absolute path of the output folder. It names the run that owns these reservations. */
  readonly run: string;
  /** Runs `work` while no other process uses the file. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  /** The time that entries carry, in ms since the epoch. @defaultValue Date.now */
  readonly now?: () => number;
  /**
   * The clock by which entries expire after 24 hours. The earlier of this and `now` is used: a wall clock that is set
   * forward by a day during a run must not free money that was spent a minute ago. @defaultValue now
   */
  readonly countedBy?: () => number;
}

/** In millionths of a dollar, over the 24 hours before the last call. */
interface DaySnapshot {
  readonly cap: MicroDollars;
  readonly spent: MicroDollars;
  readonly reserved: MicroDollars;
  /** The part of `reserved` that belongs to other runs, whether they still run or have died. */
  readonly reservedByOthers: MicroDollars;
}

/**
 * `--max-cost-per-day`: the money that all runs sharing one file may spend in a rolling 24 hours. Each call is durable
 * when it resolves; calls made at the same time share one lock and one sync. A run that dies leaves its reservations
 * behind: they count until a later start of that run ends them, or until 24 hours after they were made.
 */
export interface DayLedger {
  /** False if the price does not fit; nothing is reserved then, and `whyNot` explains why. */
  reserve(id: string, price: MicroDollars): Promise<boolean>;
  /** Ends the row's latest reservation, if it has one, and books the cost. */
  settle(id: string, cost: MicroDollars): Promise<void>;
  /**
   * Ends a reservation for which nothing was bought. A purchase that may have been made is not released: it counts for
   * 24 hours.
   */
  release(id: string): Promise<void>;
  /** The open reservations of this run, including those that earlier starts left. */
  outstanding(): Promise<readonly Reservation[]>;
  /** One or two sentences on why a price does not fit, with the time at which it will. */
  whyNot(price: MicroDollars): string;
  /** The sums as of the last call that used the file. */
  snapshot(): DaySnapshot;
}

interface Request {
  /** The entry to write; `undefined` if the request is refused, or only reads. */
  readonly decide: (file: DayFile, now: number) => DayEntry | undefined;
  readonly resolve: (written: boolean) => void;
  readonly reject: (error: unknown) => void;
}

export function openDayLedger(options: DayLedgerOptions): DayLedger {
  return new SharedDayLedger(options);
}

class SharedDayLedger implements DayLedger {
  private readonly file: DayFile;
  private readonly cap: MicroDollars;
  private waiting: Request[] = [];
  private running = false;

  constructor(private readonly options: DayLedgerOptions) {
    this.file = new DayFile(options.disk, options.path);
    this.cap = toMicroDollars(options.capUsd);
  }

  reserve(id: string, amount: MicroDollars): Promise<boolean> {
    return this.ask((file, at) =>
      this.fits(file, amount) ? { k: 'reserve', at, run: this.options.run, id, amount } : undefined,
    );
  }

  async settle(id: string, amount: MicroDollars): Promise<void> {
    await this.ask((_, at) => ({ k: 'settle', at, run: this.options.run, id, amount }));
  }

  async release(id: string): Promise<void> {
    await this.ask((_, at) => ({ k: 'release', at, run: this.options.run, id }));
  }

  async outstanding(): Promise<readonly Reservation[]> {
    await this.ask(() => undefined);
    return this.file.book.outstanding(this.options.run);
  }

  snapshot(): DaySnapshot {
    const { spent, reserved } = this.file.book;
    const own = this.file.book.outstanding(this.options.run).reduce((sum, { amount }) => sum + amount, 0);
    return { cap: this.cap, spent, reserved, reservedByOthers: reserved - own };
  }

  whyNot(price: MicroDollars): string {
    const { run, path } = this.options;
    return whyNoRoom(this.file.book, { price, cap: this.cap, run, path, now: this.now() });
  }

  private fits({ book }: DayFile, price: MicroDollars): boolean {
    return book.spent + book.reserved + price <= this.cap;
  }

  private ask(decide: Request['decide']): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ decide, resolve, reject });
      if (!this.running) void this.drain();
    });
  }

  private async drain(): Promise<void> {
    this.running = true;
    await Promise.resolve();
    while (this.waiting.length > 0) await this.answer(this.waiting.splice(0));
    this.running = false;
  }

  private async answer(requests: readonly Request[]): Promise<void> {
    try {
      const written = await this.options.exclusively(() => this.write(requests));
      requests.forEach(({ resolve }, index) => resolve(written[index] ?? false));
    } catch (cause) {
      for (const { reject } of requests) reject(this.explained(cause));
    }
  }

  /** Each decision sees the entries of those before it: two prices that fit alone may not fit together. */
  private async write(requests: readonly Request[]): Promise<boolean[]> {
    const now = this.now();
    await this.file.catchUp(Math.min(now, this.options.countedBy?.() ?? now));
    const decided = requests.map(({ decide }) => {
      const entry = decide(this.file, now);
      if (entry !== undefined) this.file.book.apply(entry);
      return entry;
    });
    await this.file.append(decided.filter((entry) => entry !== undefined));
    return decided.map((entry) => entry !== undefined);
  }

  private now(): number {
    return (this.options.now ?? Date.now)();
  }

  private explained(cause: unknown): unknown {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (cause instanceof DayLedgerError || code === undefined || !/^E[A-Z]+$/.test(code)) return cause;
    const text = `The shared ledger ${this.options.path} cannot be used: ${message}. Nothing more is sent under a daily cap that cannot be checked.`;
    return new DayLedgerError(text, code, { cause });
  }
}

/** Lines from the future count until somebody removes them, because the real spending is not known. */
const fromTheFuture =
  ' Lines of that file lie in the future: the clock was wrong when they were written. Once their purchases are older than 24 hours, remove those lines.';

interface Wanted {
  readonly price: MicroDollars;
  readonly cap: MicroDollars;
  /** The run that would own the reservation. */
  readonly run: string;
  readonly path: string;
  /** In ms since the epoch. */
  readonly now: number;
}

/** Explains why a price does not fit under the daily cap, which runs use it up, and when it will fit. */
export function whyNoRoom(book: DayBook, { price, cap, run, path, now }: Wanted): string {
  const { spent, reserved } = book;
  const others = book.outstanding().filter((reservation) => reservation.run !== run);
  const above = spent + reserved + price - cap;
  const at = above <= 0 ? now : book.roomAt(above);
  const when =
    above <= 0
      ? 'It fits now, because rows cost less than was reserved for them.'
      : at === undefined
        ? 'It will not fit at all.'
        : `It will fit at ${new Date(at).toISOString()} at the latest.`;
  // Money that is spent now leaves the 24 hours at the end of its minute.
  const isFromTheFuture = at !== undefined && at > now + dayMs + minuteMs;
  return (
    `${formatMoney(price)} ${above <= 0 ? 'did' : 'does'} not fit under the ${formatMoney(cap)} a day of ${path}: in the last 24 hours ${formatMoney(spent)} were spent, ` +
    `and ${formatMoney(reserved)} are reserved${sharesOf(others)}.${reserved === 0 ? '' : ' What a run leaves reserved when it dies is freed by its next start, or after 24 hours.'} ${when}${isFromTheFuture ? fromTheFuture : ''}`
  );
}

function sharesOf(others: readonly { readonly run: string; readonly amount: MicroDollars }[]): string {
  const runs = [...new Set(others.map(({ run }) => run))];
  if (runs.length === 0) return '';
  const sum = others.reduce((total, { amount }) => total + amount, 0);
  return ` (${formatMoney(sum)} of it by ${someOf(runs.slice(0, 1), runs.length)})`;
}

/** The ledger that all runs of a user share, unless `--ledger FILE` names another one. */
export function dayLedgerPath(...place: Parameters<typeof stateFolder>): string {
  return `${stateFolder(...place)}/ledger.jsonl`;
}
