import pLimit from 'p-limit';
import { createHash } from 'node:crypto';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isPlainObject } from '../../../src/contract/bounded-json.js';
import { makeThumbnail, thumbnailPath } from '../../batch/artifacts/write-thumbnail.js';
import type { Disk } from '../../batch/disk/disk.js';
import { readFile } from '../../batch/disk/read-file.js';
import { replaceFile } from '../../batch/disk/replace-file.js';
import type { PagePicture, PageReference } from '../page-data.js';

import {
  defined,
  leftAtItsUrl,
  pathAddress,
  remoteReference,
  savedPath,
  savedPicture,
  shownName,
} from './picture-facts.js';
import type { Survey } from '../survey/survey-run.js';

interface ShelfOptions {
  readonly disk: Disk;
  readonly folder: string;
  /** The folders to which references may be relative; the first one that has the file counts. */
  readonly manifestFolders: readonly string[];
  /** The maximum number of thumbnails to make; a run that has made its own needs none. */
  readonly mayMake: number;
  /** The address of a file for the page. @defaultValue its path relative to the output folder */
  readonly addressOf?: (path: string) => string | undefined;
  /** Saves a small copy of a reference on the web, if that is wanted; resolves to `false` if it cannot be fetched. */
  readonly saveCopy?: (url: string, target: string) => Promise<boolean>;
}

/** How many references are kept: rows that share one are usually near each other. */
const referencesKept = 10_000;

/** The pictures of a run and their thumbnails, which are made if they are missing. */
export class RunPictures {
  /** The number of pictures shown without a thumbnail. */
  plain = 0;
  /** Whether references on the web may have small copies. */
  readonly mayHaveCopies: boolean;
  readonly #options: ShelfOptions;
  readonly #thumbnails: Set<string>;
  readonly #references = new Map<string, Promise<PageReference>>();
  /** Thumbnails of this report by path: an earlier version of a row may share one with the current one. */
  readonly #made = new Map<string, Promise<boolean>>();
  readonly #atOnce = pLimit(4);
  #mayMake: number;

  private constructor(options: ShelfOptions, thumbnails: readonly string[]) {
    this.#options = options;
    this.#thumbnails = new Set(thumbnails);
    this.#mayMake = options.mayMake;
    this.mayHaveCopies =
      options.saveCopy !== undefined || thumbnails.some((name) => name.startsWith('reference-'));
  }

  static async open(options: ShelfOptions): Promise<RunPictures> {
    return new RunPictures(options, await options.disk.list(join(options.folder, 'thumbnails')));
  }

  /** The `image` of a result; without a path it was left at its URL. */
  async result(image: unknown): Promise<PagePicture | undefined> {
    if (!isPlainObject(image)) return undefined;
    const path = savedPath(image);
    if (path === undefined) return leftAtItsUrl(image);
    const picture = join(this.#options.folder, path);
    const thumb = await this.#thumbOf(picture, thumbnailOf(path, image['sha256']));
    return savedPicture(image, defined({ path: this.#address(picture), thumb }));
  }

  get hasThumbnails(): boolean {
    return this.#thumbnails.size > 0;
  }

  /** The address of a saved picture's thumbnail; `undefined` if it has none, which is counted. */
  thumbnail(path: string, sha256: unknown): string | undefined {
    const thumbnail = thumbnailOf(path, sha256);
    if (this.#thumbnails.has(thumbnail.slice(thumbnail.indexOf('/') + 1))) return pathAddress(thumbnail);
    this.plain++;
    return undefined;
  }

  /** One of a row's references, as the manifest names it. */
  reference(name: string): Promise<PageReference> {
    const known = this.#references.get(name) ?? this.#findReference(name);
    if (this.#references.size >= referencesKept) this.#references.clear();
    if (name.length < 1000) this.#references.set(name, known);
    return known;
  }

  async #findReference(name: string): Promise<PageReference> {
    const remote = remoteReference(name);
    if (remote?.url !== undefined) return defined({ ...remote, thumb: await this.#copyOf(remote.url) });
    if (remote !== undefined) return remote;
    const { disk, manifestFolders } = this.#options;
    for (const manifestFolder of manifestFolders) {
      const path = resolve(manifestFolder, name);
      const found = await disk.stat(path).catch(() => undefined);
      if (found?.kind !== 'file') continue;
      const key = createHash('sha256').update(`${path} ${found.size}`).digest('hex').slice(0, 16);
      const thumb = await this.#thumbOf(path, `thumbnails/reference-${key}.webp`);
      return defined({ name: shownName(name), path: this.#address(path), thumb });
    }
    return { name: shownName(name) };
  }

  /** The address of the small copy of a reference on the web, if it was saved. */
  async #copyOf(url: string): Promise<string | undefined> {
    const { folder, saveCopy } = this.#options;
    const target = join(folder, copyPath(url));
    const isThere = this.#thumbnails.has(basename(target)) || (await saveCopy?.(url, target)) === true;
    if (!isThere) return undefined;
    this.#thumbnails.add(basename(target));
    return this.#address(target);
  }

  /** The thumbnail's URL; without a thumbnail, the picture's. */
  async #thumbOf(picture: string, thumbnail: string): Promise<string | undefined> {
    const { folder } = this.#options;
    const name = thumbnail.slice(thumbnail.indexOf('/') + 1);
    const target = join(folder, thumbnail);
    if (this.#thumbnails.has(name)) return this.#address(target);
    if (await this.#make(picture, target)) return this.#address(target);
    this.plain++;
    return this.#address(picture);
  }

  #make(picture: string, target: string): Promise<boolean> {
    const known = this.#made.get(target);
    if (known !== undefined) return known;
    if (this.#mayMake-- <= 0) return Promise.resolve(false);
    const made = this.#atOnce(() => makeFrom(this.#options.disk, picture, target));
    this.#made.set(target, made);
    return made;
  }

  #address(path: string): string | undefined {
    const { folder, addressOf } = this.#options;
    return addressOf === undefined ? relativeUrl(folder, path) : addressOf(path);
  }
}

/** The path of the small copy of a reference on the web. */
function copyPath(url: string): string {
  return `thumbnails/reference-${createHash('sha256').update(url).digest('hex').slice(0, 16)}.webp`;
}

async function makeFrom(disk: Disk, picture: string, thumbnail: string): Promise<boolean> {
  const bytes = await readWhole(disk, picture);
  const small = bytes === undefined ? undefined : await makeThumbnail(bytes);
  if (small === undefined) return false;
  await disk.mkdir(dirname(thumbnail));
  await replaceFile(disk, thumbnail, small);
  return true;
}

function thumbnailOf(path: string, sha256: unknown): string {
  return thumbnailPath({ path, sha256: typeof sha256 === 'string' ? sha256 : '' });
}

/** A path below or beside the output folder as a relative URL; `undefined` if no relative path leads there. */
export function relativeUrl(folder: string, path: string): string | undefined {
  // A fast path: nearly all are below the folder, and `relative` is slow to find that.
  const way = path.startsWith(`${folder}${sep}`) ? path.slice(folder.length + 1) : relative(folder, path);
  if (way === '' || isAbsolute(way)) return undefined;
  return pathAddress(way.split(sep).join('/'));
}

/** Larger files are shown as they are, without a thumbnail. */
const maxBytes = 256 * 2 ** 20;

/** `undefined` if the file is missing, not a plain file, or too large. */
export async function readWhole(disk: Disk, path: string): Promise<Uint8Array | undefined> {
  const found = await disk.stat(path).catch(() => undefined);
  return found?.kind === 'file' && found.size <= maxBytes ? readFile(disk, path, found.size) : undefined;
}

/**
 * The folders of the manifests of all starts. A relative manifest path is tried from the working directory and from the folder
 * above the output.
 */
export function manifestFoldersOf({ story, folder }: Pick<Survey, 'story' | 'folder'>): string[] {
  const beside = dirname(resolve(folder));
  const folders = story.starts.flatMap(({ manifest }) => [
    resolve(dirname(manifest)),
    resolve(beside, dirname(manifest)),
  ]);
  return [...new Set([...folders, beside])];
}
