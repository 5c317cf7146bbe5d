import { headBytes, pictureFormat } from './picture-format.js';

/** Some writers put a little behind the end. */
const tailBytes = 1 << 16;
const pngEnd = Buffer.from('\0\0\0\0IEND\xae\x42\x60\x82', 'latin1');
const jpegEnd = Buffer.from([0xff, 0xd9]);

/** Watches a picture go by, for whether its end comes: a reply without a length that breaks off looks whole. */
export class PictureEnd {
  private head: Buffer = Buffer.alloc(0);
  private tail: Buffer = Buffer.alloc(0);
  private length = 0;

  see(piece: Uint8Array): void {
    if (this.head.length < headBytes) this.head = Buffer.concat([this.head, piece.subarray(0, headBytes)]);
    this.tail = Buffer.concat([this.tail, piece.subarray(-tailBytes)]).subarray(-tailBytes);
    this.length += piece.length;
  }

  /** Of a format whose end is marked. Of another one nothing is said. */
  get isMissing(): boolean {
    switch (pictureFormat(this.head)) {
      case 'png':
        return !this.tail.includes(pngEnd);
      case 'jpeg':
        return !this.tail.includes(jpegEnd);
      case 'webp':
        return this.length < this.head.readUInt32LE(4) + 8;
      default:
        return false;
    }
  }
}
