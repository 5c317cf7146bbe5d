import { dirname, join, relative, sep } from 'node:path';
import type { Disk } from '../disk/disk.js';
import { withFile } from '../disk/read-file.js';
import { replaceFile } from '../disk/replace-file.js';
import { isFormula, withoutSigns } from './columns/formula-text.js';
import { imagesCell } from './columns/manifest-fields.js';
import { ManifestError } from './manifest-error.js';
import { csvCell } from './quote-value.js';

export interface StarterOptions {
  readonly disk: Disk;
  /** The folder of the pictures; its subfolders are not read. */
  readonly folder: string;
  readonly prompt: string;
  /** The file to write: in `folder` or above it, because pictures must be below the manifest. @defaultValue `edits.csv` in `folder` */
  readonly manifest?: string;
  readonly formatOf: PictureFormatOf;
}

export interface StarterManifest {
  readonly path: string;
  readonly pictures: number;
  /** Files of the folder that are not in the manifest, and why. */
  readonly skipped: readonly SkippedFile[];
}

/**
 * Writes a CSV manifest with an edit for each PNG, JPEG and WebP picture in a folder, sorted by name. Throws `ManifestError` if
 * the manifest exists, or if the folder does not exist or has no pictures.
 */
export async function writeStarterManifest(options: StarterOptions): Promise<StarterManifest> {
  const { disk, folder, prompt, manifest: path = join(folder, 'edits.csv') } = options;
  if (prompt.trim() === '')
    throw new ManifestError(path, 'the prompt is empty; say what the pictures are to become');
  if ((await disk.stat(folder))?.kind !== 'folder')
    throw new ManifestError(folder, 'there is no such folder');
  const prefix = pathFrom(path, folder);
  if ((await disk.stat(path)) !== undefined)
    throw new ManifestError(path, 'is there already; move it away, or name another file');
  const { pictures, skipped } = await findPictures(disk, folder, options.formatOf);
  if (pictures.length === 0) throw new ManifestError(path, `${folder} holds no PNG, JPEG or WebP picture`);
  await replaceFile(disk, path, starterRows(pictures, prefix, prompt));
  return { path, pictures: pictures.length, skipped };
}

function pathFrom(manifest: string, folder: string): string {
  const path = relative(dirname(manifest), folder).split(sep).join('/');
  if (path === '..' || path.startsWith('../'))
    throw new ManifestError(
      manifest,
      `must be in ${folder} or above it, so that it can name the pictures by paths`,
    );
  return path === '' ? '' : `${path}/`;
}

/** The lines of a starter manifest: an id from the picture's name, its path, and the prompt. */
function* starterRows(pictures: readonly string[], prefix: string, prompt: string): Generator<string> {
  yield 'id,images,prompt\n';
  const ids = new Set<string>();
  for (const name of pictures)
    yield `${[freeId(name, ids), imageCell(prefix + name), textCell(prompt)].map(csvCell).join(',')}\n`;
}

/** Adds a number to names that differ only in case, extension, or how an accent is encoded: macOS has other bytes for `é` than a keyboard. */
function freeId(name: string, ids: Set<string>): string {
  const stem = withoutSigns(name.normalize().replace(/\.[^.]*$/, '')) || 'picture';
  let id = stem;
  for (let number = 2; ids.has(id.toLowerCase()); number++) id = `${stem}-${number}`;
  ids.add(id.toLowerCase());
  return id;
}

/** Writes a path so that it is read as one path, and not as two paths, a URL or a formula. */
function imageCell(path: string): string {
  const plain = isFormula(path) || /^[^/]*:/.test(path) ? `./${path}` : path;
  return imagesCell([plain]);
}

/** Puts a space before text that looks like a formula to a spreadsheet; it does not change a prompt. */
function textCell(text: string): string {
  return isFormula(text) ? ` ${text}` : text;
}

const headBytes = 16;
const taken: readonly unknown[] = ['png', 'jpeg', 'webp'];

/** The format of a picture by its first 16 bytes; `undefined` if it is no picture. */
export type PictureFormatOf = (head: Uint8Array) => string | undefined;

export interface SkippedFile {
  readonly name: string;
  /** The end of a sentence that begins with the name. */
  readonly why: string;
}

/** The sorted names of the pictures in a folder, and of the other files there. */
export async function findPictures(
  disk: Disk,
  folder: string,
  formatOf: PictureFormatOf,
): Promise<{ readonly pictures: string[]; readonly skipped: SkippedFile[] }> {
  const pictures: string[] = [];
  const skipped: SkippedFile[] = [];
  for (const name of (await disk.list(folder)).sort()) {
    const why = await whyNot(disk, folder, name, formatOf);
    if (why === undefined) pictures.push(name);
    else skipped.push({ name, why });
  }
  return { pictures, skipped };
}

async function whyNot(
  disk: Disk,
  folder: string,
  name: string,
  formatOf: PictureFormatOf,
): Promise<string | undefined> {
  if (/[\u0000-\u001f\u007f\ufffd]/.test(name)) return 'has a name that a manifest cannot hold';
  const path = join(folder, name);
  const found = await disk.stat(path);
  if (found?.kind !== 'file') return found?.kind === 'folder' ? 'is a folder' : 'is not a plain file';
  const head = new Uint8Array(headBytes);
  const length = await withFile(disk, path, (file) => file.read(head, 0));
  const format = formatOf(head.subarray(0, length));
  if (format === undefined) return 'is not a picture';
  return taken.includes(format) ? undefined : `is a ${format} picture; PNG, JPEG and WebP are accepted`;
}
