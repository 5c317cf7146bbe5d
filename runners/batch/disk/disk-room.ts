import { randomBytes } from 'node:crypto';
import { writeAll, type Disk } from './disk.js';
import { isOfRoom, reasonOf } from './disk-fault.js';

/** The space that the answers to rows in flight take in the journal and the files, in bytes: a minimum, and for each row. */
const answers = { leastBytes: 256 << 10, bytesARow: 16 << 10 };
/** The free space is read at most this often, in ms, while it is this many times the space needed; otherwise before each row. */
const everyMs = 100;
const plenty = 64;
/** No more than this many bytes are reserved, because they would take a second to write. */
const mostHeldBytes = 16 << 20;
const chunkBytes = 1 << 20;

interface DiskRoomParts {
  readonly disk: Pick<Disk, 'freeBytes' | 'open' | 'unlink'>;
  readonly folder: string;
  /** In ms since the epoch. */
  readonly now: () => number;
}

/**
 * Whether a folder's disk has space for the answers to rows in flight. A paid answer that cannot be written is lost,
 * and each start on a full disk would lose as many of them as it has slots. The free space says nothing about quotas,
 * and another program may use it: so a file reserves the space, and is removed when an answer needs it.
 */
export class DiskRoom {
  /** Why nothing more may be sent, as of the last check; `undefined` if there is space, or it is not known. */
  shortage: string | undefined;
  /** How many rows may be in flight. */
  rows: () => number = () => 1;
  private readonly ballast: string;
  private heldBytes = 0;
  private isGivenUp = false;
  private lookedAt = -Infinity;
  private looking: Promise<void> | undefined;

  constructor(private readonly parts: DiskRoomParts) {
    this.ballast = `${parts.folder}/.ballast`;
  }

  /** A check that must end before `shortage` is read; `undefined` if none is needed. */
  look(): Promise<void> | undefined {
    const { disk, now } = this.parts;
    if (this.looking !== undefined || disk.freeBytes === undefined || this.isGivenUp) return this.looking;
    if (now() - this.lookedAt < everyMs) return undefined;
    const ended = (): void => void (this.looking = undefined);
    this.looking = this.read();
    // Ends no earlier than for those who wait: a row that asks then must not overtake them.
    void this.looking.then(ended, ended);
    return this.looking;
  }

  /** Frees the reserved space for answers on their way; nothing more is sent. Resolves to false if nothing was reserved. */
  async giveUp(): Promise<boolean> {
    if (this.heldBytes === 0 || this.isGivenUp) return false;
    this.isGivenUp = true;
    this.shortage = `no space was left in ${this.parts.folder} for an answer, and what was held for it is used`;
    return this.remove();
  }

  async close(): Promise<void> {
    await this.looking;
    if (this.heldBytes > 0 && !this.isGivenUp) await this.remove();
  }

  private async read(): Promise<void> {
    const { disk, folder, now } = this.parts;
    const free = await disk.freeBytes?.(folder).catch(() => undefined);
    const needed = answers.leastBytes + answers.bytesARow * this.rows();
    if (free === undefined || free > needed * plenty) this.lookedAt = now();
    const shortage =
      free === undefined || free + this.heldBytes >= needed
        ? await this.hold(Math.min(needed, mostHeldBytes))
        : `${kilobytes(free)} of ${kilobytes(needed)} are free`;
    if (this.isGivenUp) return;
    this.shortage = shortage && `no space is left in ${folder} for the answers to paid requests: ${shortage}`;
  }

  /**
   * Reserves this many bytes. Returns why the disk has no space for them; if the file cannot be written for another
   * reason, nothing is reserved.
   */
  private async hold(bytes: number): Promise<string | undefined> {
    if (this.heldBytes >= bytes) return undefined;
    try {
      const file = await this.parts.disk.open(this.ballast, 'a+');
      try {
        // Random bytes, because zeros would reserve nothing on a file system that compresses.
        for (let at = await file.size(); at < bytes; at += chunkBytes)
          await writeAll(file, randomBytes(Math.min(chunkBytes, bytes - at)), at);
        await file.sync();
      } finally {
        await file.close();
      }
      this.heldBytes = bytes;
      return undefined;
    } catch (error) {
      await this.remove();
      const { code } = error as NodeJS.ErrnoException;
      return isOfRoom(code) ? reasonOf(code) : undefined;
    }
  }

  private async remove(): Promise<boolean> {
    this.heldBytes = 0;
    return this.parts.disk.unlink(this.ballast).then(
      () => true,
      () => false,
    );
  }
}

function kilobytes(bytes: number): string {
  return `${Math.floor(bytes / 1024)} kB`;
}
