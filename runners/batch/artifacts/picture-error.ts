import { MillraceError } from '../../../src/contract/millrace-error.js';
import { headBytes, pictureFormat } from './picture-name.js';

/** A picture that is paid for could not be saved, and the disk is not to blame: the row fails as `download`. */
export class PictureError extends MillraceError {
  static override readonly name: string = 'PictureError';
  /** Of the reply that brought no picture. */
  readonly httpStatus: number | undefined;
  /** The bytes are no picture at all. */
  readonly isNoPicture: boolean;
  /** Trying again may help. */
  readonly mayPass: boolean;

  constructor(
    message: string,
    facts: { httpStatus?: number; isNoPicture?: boolean; mayPass?: boolean } = {},
  ) {
    super('picture', message);
    this.httpStatus = facts.httpStatus;
    this.isNoPicture = facts.isNoPicture ?? false;
    this.mayPass = facts.mayPass ?? false;
  }
}

/** Some writers put a little behind the end. */
const tailBytes = 1 << 16;
const pngEnd = Buffer.from('\0\0\0\0IEND\xae\x42\x60\x82', 'latin1');
const jpegEnd = Buffer.from([0xff, 0xd9]);

/** Checks whether a picture's end has arrived: a reply without a length that breaks off looks whole. */
export class PictureEnd {
  private head: Buffer = Buffer.alloc(0);
  private tail: Buffer = Buffer.alloc(0);
  private length = 0;

  add(chunk: Uint8Array): void {
    if (this.head.length < headBytes) this.head = Buffer.concat([this.head, chunk.subarray(0, headBytes)]);
    this.tail = Buffer.concat([this.tail, chunk.subarray(-tailBytes)]).subarray(-tailBytes);
    this.length += chunk.length;
  }

  /** Only for formats with an end marker; false for others. */
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
