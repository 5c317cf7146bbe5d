import { formatMoney, toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../disk/disk.js';
import { stateFolder } from '../disk/node-disk.js';
import { type DayEntry, type Reservation, dayMs, minuteMs, type DayBook } from './day-book.js';
import { DayFile, DayLedgerError } from './day-file.js';

export interface DayLedgerOptions {
  readonly disk: Disk;
  readonly path: string;
  /** Never reserved beyond within 24 hours, by all runs that share the file, in US dollars. */
  readonly capUsd: number;
  /** The output folder, absolute: whose reservations these are. */
  readonly run: string;
  /** Runs the work while no other process has the file. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  /** ms since the epoch: entries carry it. @defaultValue Date.now */
  readonly now?: () => number;
  /**
   * Entries count until 24 hours have passed by this clock. A wall clock that is set forward by a day while a run goes on must
   * not free what was spent a minute ago. @defaultValue now
   */
  readonly countedBy?: () => number;
}

/** In millionths of a dollar, over the 24 hours before the last call. */
interface DaySnapshot {
  readonly cap: MicroDollars;
  readonly spent: MicroDollars;
  readonly reserved: MicroDollars;
  /** Of `reserved`: by other runs, or by ones that died. */
  readonly reservedByOthers: MicroDollars;
}

/**
 * `--max-cost-per-day`: what all runs that share one file may spend in a rolling 24 hours. Each call is durable when it
 * resolves; calls that come together share one lock and one sync. A run that dies leaves its reservations behind: they
 * count until a later start of that run ends them, or until 24 hours after they were made.
 */
export interface DayLedger {
  /** False: it does not fit, and nothing is reserved. `whyNot` explains why. */
  reserve(id: string, price: MicroDollars): Promise<boolean>;
  /** Ends the row's latest reservation, if it has one, and books the cost. */
  settle(id: string, cost: MicroDollars): Promise<void>;
  /** Nothing was bought. A purchase that may have been made is not released: it counts for 24 hours. */
  release(id: string): Promise<void>;
  /** Reservations that earlier starts of this run left. */
  outstanding(): Promise<readonly Reservation[]>;
  /** One or two sentences on why a price does not fit, with the time at which it will. */
  whyNot(price: MicroDollars): string;
  /** The sums of the last 24 hours as they stand now. */
  snapshot(): DaySnapshot;
}

interface Request {
  /** The entry to write; `undefined`: refused, or only read. */
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

  /** Each decision sees those before it: two that fit alone may not fit together. */
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

/** How much was bought since then is not known: it counts until a person removes the lines. */
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

/** Explains why a price does not fit under the daily cap, which runs use it up, and when it will fit. */
export function whyNoRoom(book: DayBook, { price, cap, run, path, now }: Wanted): string {
  const { spent, reserved } = book;
  const others = book.outstanding().filter((reservation) => reservation.run !== run);
  const at = book.roomAt(spent + reserved + price - cap);
  const when =
    at === undefined
      ? 'It will not fit at all.'
      : `It will fit at ${new Date(at).toISOString()} at the latest.`;
  // Money spent now leaves the 24 hours at the end of its minute.
  const isFromTheFuture = at !== undefined && at > now + dayMs + minuteMs;
  return (
    `${formatMoney(price)} does not fit under the ${formatMoney(cap)} a day of ${path}: in the last 24 hours ${formatMoney(spent)} were spent, ` +
    `and ${formatMoney(reserved)} are reserved${sharesOf(others)}. What a run leaves reserved when it dies is freed by its next start, or after 24 hours. ${when}${isFromTheFuture ? fromTheFuture : ''}`
  );
}

function sharesOf(others: readonly { readonly run: string; readonly amount: MicroDollars }[]): string {
  const [first, ...rest] = new Set(others.map(({ run }) => run));
  if (first === undefined) return '';
  const sum = others.reduce((total, { amount }) => total + amount, 0);
  return ` (${formatMoney(sum)} of it by ${first}${rest.length > 0 ? ` and ${rest.length} more` : ''})`;
}

/** The ledger that all runs of a user share, unless `--ledger FILE` names another one. */
export function dayLedgerPath(...place: Parameters<typeof stateFolder>): string {
  return `${stateFolder(...place)}/ledger.jsonl`;
}
