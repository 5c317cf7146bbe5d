type Change = { readonly at: number; readonly bytes: Uint8Array } | { readonly size: number };

/** The bytes of one file: as programs see them, and as the disk has them. Changes reach the disk at a sync, or by chance at a crash. */
export class ForgetfulFile {
  private static count = 0;
  /** As a device's inode number: of one file alone. */
  readonly id = `file-${++ForgetfulFile.count}`;
  private seen: Buffer;
  private durable: Buffer;
  private seenSize: number;
  private durableSize: number;
  private unsynced: Change[] = [];

  constructor(content: Uint8Array = new Uint8Array()) {
    this.seen = Buffer.from(content);
    this.durable = Buffer.from(content);
    this.seenSize = this.durableSize = content.length;
  }

  get size(): number {
    return this.seenSize;
  }

  get content(): Buffer {
    return Buffer.from(this.seen.subarray(0, this.seenSize));
  }

  read(into: Uint8Array, position: number): number {
    if (position >= this.seenSize) return 0;
    return this.seen.copy(into, 0, position, Math.min(this.seenSize, position + into.length));
  }

  write(bytes: Uint8Array, at: number): void {
    this.change({ at, bytes: new Uint8Array(bytes) });
  }

  truncate(size: number): void {
    this.change({ size });
  }

  sync(): void {
    for (const change of this.unsynced.splice(0)) this.reach(change);
  }

  /**
   * What a power cut leaves: every change since the last sync, none, or the first few, of which the last one in part; behind
   * a part the file may have its new length already, with zeros.
   */
  afterCrash(random: () => number): ForgetfulFile {
    const chance = random();
    const whole =
      chance < 1 / 3
        ? this.unsynced.length
        : chance < 2 / 3
          ? 0
          : Math.floor(random() * this.unsynced.length);
    for (const change of this.unsynced.slice(0, whole)) this.reach(change);
    const torn = chance < 2 / 3 ? undefined : this.unsynced[whole];
    if (torn !== undefined && 'bytes' in torn) this.reachInPart(torn, random);
    return new ForgetfulFile(this.durable.subarray(0, this.durableSize));
  }

  private reachInPart({ at, bytes }: { at: number; bytes: Uint8Array }, random: () => number): void {
    const count = Math.floor(random() * bytes.length);
    const isExtended = random() < 0.5;
    this.reach({ at, bytes: isExtended ? zeroed(bytes, count) : bytes.subarray(0, count) });
  }

  private change(change: Change): void {
    this.unsynced.push(change);
    [this.seen, this.seenSize] = applied(this.seen, this.seenSize, change);
  }

  private reach(change: Change): void {
    [this.durable, this.durableSize] = applied(this.durable, this.durableSize, change);
  }
}

function zeroed(bytes: Uint8Array, from: number): Uint8Array {
  return new Uint8Array(bytes).fill(0, from);
}

function applied(buffer: Buffer, size: number, change: Change): [Buffer, number] {
  if ('size' in change) {
    const grown = withRoom(buffer, change.size);
    grown.fill(0, Math.min(size, change.size));
    return [grown, change.size];
  }
  const end = change.at + change.bytes.length;
  const grown = withRoom(buffer, end);
  grown.set(change.bytes, change.at);
  return [grown, Math.max(size, end)];
}

function withRoom(buffer: Buffer, size: number): Buffer {
  return size <= buffer.length ? buffer : Buffer.concat([buffer], Math.max(size, buffer.length * 2, 1_024));
}
