import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { DayLedger } from '../../ledger/day-ledger.js';
import type { Ledger } from '../../ledger/ledger.js';

/** A run's part in the ledger that runs share: what is booked in its own ledger is booked there as well. */
export class DayMoney {
  private readonly reserved = new Map<string, Promise<boolean>>();
  private readonly writing = new Set<Promise<unknown>>();

  /** @param fault Told of what keeps the shared ledger from being read or written: nothing more may be sent then. */
  constructor(
    private readonly shared: DayLedger,
    private readonly fault: (error: unknown) => void,
  ) {}

  /** False: it does not fit, or nobody can tell. An unknown price counts as nothing until it is known. */
  reserve(id: string, price: MicroDollars | null): Promise<boolean> {
    const fits = this.shared.reserve(id, price ?? 0).catch((error: unknown) => {
      this.fault(error);
      return false;
    });
    this.reserved.set(id, fits);
    return fits;
  }

  whyNot(price: MicroDollars | null): string {
    return this.shared.whyNot(price ?? 0);
  }

  /** The run's own ledger, whose settlements and releases are booked in the shared one too. What may have been bought stays reserved there. */
  behind(ledger: Ledger): Ledger {
    return {
      reserve: (id, price) => ledger.reserve(id, price),
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
      hold: (id, price) => ledger.hold(id, price),
      snapshot: () => ledger.snapshot(),
    };
  }

  /** Resolves when everything is in the shared ledger that is to be there. */
  async flush(): Promise<void> {
    await Promise.all(this.writing);
  }

  /** Only what this start reserved: an older reservation of the row may stand for a purchase. */
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
