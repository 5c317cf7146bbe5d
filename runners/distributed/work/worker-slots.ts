import { Subject } from 'rxjs';
import type { PieceKind } from '../records/work-queue.js';

/** The pieces that a worker is at, so many at a time. */
export class Hands {
  /** A hand is free again. */
  readonly freed = new Subject<void>();
  private readonly at = { submit: 0, poll: 0, download: 0 };
  private readonly pieces = new Set<string>();

  constructor(private readonly slots: number) {}

  get free(): number {
    return this.slots - this.busy;
  }

  get busy(): number {
    return this.at.submit + this.at.poll + this.at.download;
  }

  get does(): { submits: number; polls: number; downloads: number } {
    return { submits: this.at.submit, polls: this.at.poll, downloads: this.at.download };
  }

  /** By the name of their rows, also those of which nobody knows what came. */
  get known(): ReadonlySet<string> {
    return this.pieces;
  }

  /** `work` never rejects. False: what came of the piece could not be written, so it stays known. */
  take(kind: PieceKind, piece: string, work: () => Promise<boolean>): void {
    this.at[kind] += 1;
    this.pieces.add(piece);
    void work().then((isWritten) => {
      this.at[kind] -= 1;
      if (isWritten) this.pieces.delete(piece);
      this.freed.next();
    });
  }
}
