import { formatBytes } from '../../messages/format-amounts.js';
import type { PageFile, PageRow } from '../../page-data.js';
import { h, link, setAddress } from '../dom.js';

/** `Video, a.webm, 1.4 kB`. */
export function fileWords({ field, path, kind, bytes }: PageFile): string {
  const name = path === undefined ? field : nameOf(path);
  const size = path === undefined ? 'not saved' : bytes === undefined ? '' : formatBytes(bytes);
  return [kindNames[kind ?? 'file'], name, size].filter((part) => part !== '').join(', ');
}

const kindNames = {
  picture: 'Picture',
  video: 'Video',
  audio: 'Audio',
  document: 'PDF',
  archive: 'Archive',
  model: 'Model',
  text: 'Text',
  file: 'File',
} as const;

/** The files of an answer: a player for what a browser can play, a link for others. Nothing loads before somebody asks for it. */
export function drawSavedFiles(row: PageRow): HTMLElement | undefined {
  if (row.files === undefined) return undefined;
  const drawn = row.files.map((file) => h('li', {}, player(file, row), fileLink(file)));
  return h('ul', { class: 'saved-files', 'aria-label': 'Saved files' }, ...drawn);
}

function player(file: PageFile, { picture }: PageRow): HTMLElement | undefined {
  if (file.kind === 'picture') {
    const image = h('img', { alt: fileWords(file), loading: 'lazy' });
    return setAddress(image, file.path) ? image : undefined;
  }
  if (file.kind !== 'video' && file.kind !== 'audio') return undefined;
  const media = h(file.kind, { controls: true, preload: 'metadata', 'aria-label': fileWords(file) });
  const poster = picture?.thumb ?? picture?.path;
  // The poster is the row's picture; without one, the video's first frame.
  if (media instanceof HTMLVideoElement && poster !== undefined) {
    media.poster = poster;
    media.preload = 'none';
  }
  return setAddress(media, file.path) ? media : undefined;
}

function fileLink(file: PageFile): HTMLElement {
  const opens = file.kind === 'document' || file.kind === 'picture';
  return link(
    file.path,
    fileWords(file),
    opens || file.path === undefined ? {} : { download: nameOf(file.path) },
  );
}

function nameOf(path: string): string {
  return decodeURIComponent(path).replace(/^.*\//, '');
}
