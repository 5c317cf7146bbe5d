import type { PaidRow } from '../../batch/row/task.js';

/** Counts the rows whose picture is being saved. */
export class Saving {
  private count = 0;
  private waiting: (() => void)[] = [];

  constructor(
    private readonly limit: number,
    private readonly save: (row: PaidRow) => void,
  ) {}

  add(row: Omit<PaidRow, 'free'>): void {
    this.count++;
    this.save({ ...row, free: () => this.free() });
  }

  /** Resolves when there is room for more rows. */
  room(): Promise<void> {
    return this.until(this.limit);
  }

  /** Resolves when no row is left. */
  all(): Promise<void> {
    return this.until(0);
  }

  private async until(most: number): Promise<void> {
    while (this.count > most) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private free(): void {
    this.count--;
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}
