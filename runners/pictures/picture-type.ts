/** The kinds of picture that an edit may refer to. */
export type PictureType = 'png' | 'jpeg' | 'webp' | 'gif' | 'avif' | 'tiff';

/** The number of leading bytes that identify a picture. */
export const headBytes = 16;

/** What the bytes are, whatever their name or declared type; `undefined` for anything that is no picture. */
export function pictureType(head: Uint8Array): PictureType | undefined {
  const text = Buffer.from(head.subarray(0, headBytes)).toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'gif';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'webp';
  if (text.slice(4, 8) === 'ftyp' && /^(?:avif|avis|mif1)/.test(text.slice(8))) return 'avif';
  if (text.startsWith('II*\0') || text.startsWith('MM\0*')) return 'tiff';
  return undefined;
}
