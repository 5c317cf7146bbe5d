import { headBytes, pictureFormat } from './artifact-format.js';

const pngEnd = Buffer.from('\0\0\0\0IEND\xae\x42\x60\x82', 'latin1');
const jpegEnd = Buffer.from([0xff, 0xd9]);
const startOfScan = 0xda;
/** The length of a JPEG segment's marker and length field. */
const segmentHead = 4;

/**
 * Checks whether a picture's end has arrived, because an interrupted reply without a length looks complete, and so does a file
 * that is already cut off at its host. Bytes after the end are ignored.
 */
export class PictureEnd {
  private head: Buffer = Buffer.alloc(0);
  /** The latest bytes, which may contain a part of the end marker. */
  private held: Buffer = Buffer.alloc(0);
  private length = 0;
  private hasEnded = false;
  /**
   * Where the next segment of a JPEG begins; `undefined` once its scan has begun. Segments are skipped, because a
   * preview in a segment has an end marker as well.
   */
  private segmentAt: number | undefined = 0;

  add(chunk: Uint8Array): void {
    if (this.head.length < headBytes)
      this.head = Buffer.concat([this.head, chunk.subarray(0, headBytes)]).subarray(0, headBytes);
    this.length += chunk.length;
    if (this.hasEnded) return;
    this.held = Buffer.concat([this.held, chunk]);
    const format = pictureFormat(this.head);
    if (format === 'jpeg') this.skipSegments();
    const isInScan = format === 'jpeg' && this.segmentAt === undefined;
    this.hasEnded =
      (format === 'png' && this.held.includes(pngEnd)) || (isInScan && this.held.includes(jpegEnd));
    this.held = this.held.subarray(-(pngEnd.length - 1));
  }

  /** Whether the end has not arrived. Always false for formats where the end cannot be recognised. */
  get isMissing(): boolean {
    switch (pictureFormat(this.head)) {
      case 'png':
      case 'jpeg':
        return !this.hasEnded;
      case 'webp':
        return this.length < this.head.readUInt32LE(4) + 8;
      default:
        return false;
    }
  }

  /** Skips the segments before the scan, as far as they have arrived. */
  private skipSegments(): void {
    const start = this.length - this.held.length;
    while (this.segmentAt !== undefined && this.segmentAt + segmentHead <= this.length) {
      const at = this.segmentAt - start;
      const marker = this.held[at] === 0xff ? this.held.readUInt8(at + 1) : startOfScan;
      if (marker === startOfScan) {
        this.segmentAt = undefined;
        this.held = this.held.subarray(at);
      } else if (marker === 0xff) this.segmentAt += 1;
      else this.segmentAt += isAlone(marker) ? 2 : 2 + this.held.readUInt16BE(at + 2);
    }
  }
}

/** Start of the image, restarts and TEM have no length field. */
function isAlone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd9);
}
