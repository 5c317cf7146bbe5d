import type { Disk } from './disk.js';

/** What the journal and the lines take of the answers to rows in flight, in bytes: at least, and for each row. */
const answers = { leastBytes: 256 << 10, bytesARow: 16 << 10 };
/** The disk is looked at this often at most, while it has so many times the room that is needed; else before each row. */
const everyMs = 100;
const plenty = 64;

interface DiskRoomParts {
  readonly disk: Pick<Disk, 'freeBytes'>;
  readonly folder: string;
  /** In ms since the epoch. */
  readonly now: () => number;
  /** How many rows may be in flight. */
  readonly rows: () => number;
}

/**
 * Whether a folder's disk has room for the answers to what is in flight. A paid answer that cannot be written is lost, and each start on a
 * full disk would lose as many of them as it has slots.
 */
export class DiskRoom {
  /** Why nothing more may be sent, by the last look; `undefined`: there is room, or nobody knows. */
  shortage: string | undefined;
  private lookedAt = -Infinity;
  private looking: Promise<void> | undefined;

  constructor(private readonly parts: DiskRoomParts) {}

  /** The look that `shortage` waits for, if there is one. */
  look(): Promise<void> | undefined {
    const { disk, now } = this.parts;
    if (this.looking !== undefined || disk.freeBytes === undefined) return this.looking;
    if (now() - this.lookedAt < everyMs) return undefined;
    return (this.looking = this.read().finally(() => (this.looking = undefined)));
  }

  private async read(): Promise<void> {
    const { disk, folder, now, rows } = this.parts;
    const free = await disk.freeBytes?.(folder).catch(() => undefined);
    const needed = answers.leastBytes + answers.bytesARow * rows();
    if (free === undefined || free > needed * plenty) this.lookedAt = now();
    this.shortage =
      free === undefined || free >= needed
        ? undefined
        : `no space is left in ${folder} for the answers to paid requests: ${kilobytes(free)} of ${kilobytes(needed)} are free`;
  }
}

function kilobytes(bytes: number): string {
  return `${Math.floor(bytes / 1024)} kB`;
}
