/** Enough bytes of a picture's head to tell its format. */
export const headBytes = 16;

/** A format by its name in files: `png`, `jpeg`, … */
export type PictureFormat = 'png' | 'jpeg' | 'webp' | 'gif' | 'avif' | 'heic' | 'tiff' | 'bmp';

const signatures: readonly (readonly [PictureFormat, (head: Buffer) => boolean])[] = [
  ['png', (head) => head.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))],
  ['jpeg', (head) => head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff],
  ['webp', (head) => textAt(head, 0, 4) === 'RIFF' && textAt(head, 8, 4) === 'WEBP'],
  ['gif', (head) => /^GIF8[79]a$/.test(textAt(head, 0, 6))],
  ['avif', (head) => textAt(head, 4, 4) === 'ftyp' && /^avi[fs]$/.test(textAt(head, 8, 4))],
  ['heic', (head) => textAt(head, 4, 4) === 'ftyp' && /^(hei[csx]|mif1)$/.test(textAt(head, 8, 4))],
  ['tiff', (head) => /^(II\*\0|MM\0\*)$/.test(textAt(head, 0, 4))],
  ['bmp', (head) => textAt(head, 0, 2) === 'BM' && head.length >= headBytes],
];

/** What a picture is by its first bytes, whatever its name or its Content-Type says; `undefined`: no picture. */
export function pictureFormat(head: Uint8Array): PictureFormat | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, headBytes));
  return signatures.find(([, matches]) => matches(bytes))?.[0];
}

function textAt(bytes: Buffer, start: number, length: number): string {
  return bytes.toString('latin1', start, start + length);
}
