/** What a file contains. */
export type ArtifactKind = 'picture' | 'video' | 'audio' | 'document' | 'archive' | 'model' | 'text';

/** A picture's format as it is used in file names: `png`, `jpeg`, … */
export type PictureFormat = 'png' | 'jpeg' | 'webp' | 'gif' | 'avif' | 'heic' | 'tiff' | 'bmp';

/** Enough bytes of a file's beginning to recognise its format: the signature of tar ends at byte 262. */
export const headBytes = 264;

type Signature = readonly [format: string, kind: ArtifactKind, matches: (head: Uint8Array) => boolean];

/** All known formats. The first match counts, so `mp4`, which has many signatures, comes after related formats. */
const signatures: readonly Signature[] = [
  ['png', 'picture', (head) => isAt(head, 0, '\x89PNG\r\n\x1a\n')],
  ['jpeg', 'picture', (head) => isAt(head, 0, '\xff\xd8\xff')],
  ['webp', 'picture', (head) => isAt(head, 0, 'RIFF') && isAt(head, 8, 'WEBP')],
  ['gif', 'picture', (head) => /^GIF8[79]a$/.test(textAt(head, 0, 6))],
  ['avif', 'picture', (head) => /^ftypavi[fs]$/.test(textAt(head, 4, 8))],
  ['heic', 'picture', (head) => /^ftyp(hei[csx]|mif1)$/.test(textAt(head, 4, 8))],
  ['tiff', 'picture', (head) => /^(II\*\0|MM\0\*)$/.test(textAt(head, 0, 4))],
  ['bmp', 'picture', (head) => isAt(head, 0, 'BM') && head.length >= 16],
  ['m4a', 'audio', (head) => /^ftypM4[AB] $/.test(textAt(head, 4, 8))],
  ['mov', 'video', (head) => /^(ftypqt {2}|(moov|mdat|wide)[^]{4})$/.test(textAt(head, 4, 8))],
  ['mp4', 'video', (head) => isAt(head, 4, 'ftyp')],
  ['webm', 'video', (head) => isAt(head, 0, '\x1a\x45\xdf\xa3') && textAt(head, 4, 64).includes('webm')],
  ['mkv', 'video', (head) => isAt(head, 0, '\x1a\x45\xdf\xa3')],
  ['avi', 'video', (head) => isAt(head, 0, 'RIFF') && isAt(head, 8, 'AVI ')],
  ['wav', 'audio', (head) => isAt(head, 0, 'RIFF') && isAt(head, 8, 'WAVE')],
  ['flac', 'audio', (head) => isAt(head, 0, 'fLaC')],
  ['ogg', 'audio', (head) => isAt(head, 0, 'OggS')],
  ['aac', 'audio', (head) => /^\xff[\xf1\xf9]$/.test(textAt(head, 0, 2))],
  ['mp3', 'audio', (head) => isAt(head, 0, 'ID3') || /^\xff[\xf2\xf3\xfa\xfb]$/.test(textAt(head, 0, 2))],
  ['pdf', 'document', (head) => isAt(head, 0, '%PDF-')],
  ['zip', 'archive', (head) => /^PK(\x03\x04|\x05\x06)$/.test(textAt(head, 0, 4))],
  ['gz', 'archive', (head) => isAt(head, 0, '\x1f\x8b\x08')],
  ['7z', 'archive', (head) => isAt(head, 0, '7z\xbc\xaf\x27\x1c')],
  ['xz', 'archive', (head) => isAt(head, 0, '\xfd7zXZ\0')],
  ['zst', 'archive', (head) => isAt(head, 0, '\x28\xb5\x2f\xfd')],
  ['tar', 'archive', (head) => isAt(head, 257, 'ustar')],
  ['glb', 'model', (head) => isAt(head, 0, 'glTF')],
  // The length of the JSON header comes before it; its upper bytes are 0.
  ['safetensors', 'model', (head) => isAt(head, 4, '\0\0\0\0{') && head[3] === 0],
];

/** Text formats have no signature: the extension in the URL names them. */
const textFormats: readonly string[] = [
  ...['srt', 'vtt', 'txt', 'md', 'csv', 'json', 'jsonl'],
  ...['svg', 'obj', 'ply', 'stl'],
];

/** The format of a file by its first bytes, whatever its name or Content-Type; `undefined` if it is not known. */
export function artifactFormat(head: Uint8Array): string | undefined {
  return signatureOf(head)?.[0];
}

/** Like `artifactFormat`, but only for pictures. */
export function pictureFormat(head: Uint8Array): PictureFormat | undefined {
  const [format, kind] = signatureOf(head) ?? [];
  return kind === 'picture' ? (format as PictureFormat) : undefined;
}

/**
 * The format of a text file by the extension in its URL. An HTML or XML error page is none: some hosts answer with one,
 * and status 200, when a file is gone.
 *
 * @param head the first `headBytes` bytes, or fewer if the file is shorter
 */
export function textFormat(head: Uint8Array, address: string): string | undefined {
  const ending = /\.([a-z\d]+)$/i.exec(URL.canParse(address) ? new URL(address).pathname : '')?.[1];
  const format = ending?.toLowerCase() ?? '';
  if (!textFormats.includes(format) || head.length === 0 || head.includes(0)) return undefined;
  return /^\s*<(!doctype html|html|error|\?xml[^>]*>\s*<error)/i.test(textAt(head, 0, headBytes))
    ? undefined
    : format;
}

/** The kind of a saved file, by the extension that it got for its format. */
export function kindOfPath(path: string): ArtifactKind | undefined {
  const ending = path.slice(path.lastIndexOf('.') + 1);
  return (
    signatures.find(([format]) => format === ending)?.[1] ??
    (textFormats.includes(ending) ? 'text' : undefined)
  );
}

function signatureOf(head: Uint8Array): Signature | undefined {
  return signatures.find(([, , matches]) => matches(head.subarray(0, headBytes)));
}

function isAt(bytes: Uint8Array, start: number, text: string): boolean {
  return textAt(bytes, start, text.length) === text;
}

/** One character per byte. */
function textAt(bytes: Uint8Array, start: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(start, start + length));
}
