export type PictureType = 'png' | 'jpeg' | 'webp' | 'gif';

/** What a file is by its first 12 bytes, whatever its name says; `undefined` for anything else. */
export function pictureType(head: Uint8Array): PictureType | undefined {
  const text = String.fromCharCode(...head.subarray(0, 12));
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'gif';
  if (text.startsWith('RIFF') && text.endsWith('WEBP')) return 'webp';
  return undefined;
}
