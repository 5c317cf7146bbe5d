import pLimit from 'p-limit';
import { imageEditPrices, toUsd } from '../../../src/contract/micro-dollars.js';
import type { Clock } from '../clock.js';
import type { QueueFunction } from '../settings/user-functions.js';
import type { PictureStore } from '../picture-store.js';
import { applyEdit } from './apply-edit.js';
import { longEdge, fromRaster } from './raster.js';
import { compose } from './compose.js';
import { type EditRequest, readEditRequest, BadEdit } from './read-edit-request.js';
import { loadSharp } from './load-sharp.js';
import { readPrompt } from './read-prompt.js';
import { maxPictureBytes, headBytes, pictureType } from '../../pictures/find-local-picture.js';

/** References that are downloaded at the same time, over all edits together. */
const downloads = 8;

interface EditNeeds {
  clock: Clock;
  pictures: PictureStore;
  urlOf: (name: string) => string;
}

/** The function of the image-edit endpoint: fetches, combines, edits, and answers by URL or in base64. (spec 2.5, 2.6, 4.3) */
export function createEditFunction({ clock, pictures, urlOf }: EditNeeds): QueueFunction {
  const pool = pLimit(downloads);
  return async (input, { signal }) => {
    const request = readEditRequest(input);
    const references = await pool.map(request.images, (url) => fetchPicture(url, clock, signal));
    signal.throwIfAborted();
    const picture = await editPicture(references, request);
    signal.throwIfAborted();
    const cost = toUsd(imageEditPrices[request.resolution]);
    if (request.enable_base64_output) return { image_base64: picture.toString('base64'), cost };
    return { image_url: urlOf(await pictures.add(picture, request.output_format)), cost };
  };
}

async function editPicture(references: readonly Buffer[], request: EditRequest): Promise<Buffer> {
  const sharp = await loadSharp();
  const edits = readPrompt(request.prompt);
  const scale = longEdge[request.resolution] / longEdge['1k'];
  let canvas = await compose(sharp, references, request, edits);
  for (const edit of inOrder(edits)) canvas = await applyEdit(sharp, canvas, edit, scale);
  const result = fromRaster(sharp, canvas);
  return request.output_format === 'png'
    ? result.png({ compressionLevel: 6 }).toBuffer()
    : result.jpeg({ quality: 90 }).toBuffer();
}

/** Effects in the order of the prompt, then captions, then the border. */
function inOrder(edits: ReturnType<typeof readPrompt>): ReturnType<typeof readPrompt> {
  const rank = (name: string): number => (name === 'border' ? 2 : name === 'caption' ? 1 : 0);
  return [...edits].sort((one, other) => rank(one.name) - rank(other.name));
}

/** From the request to the last byte, in ms. */
const timeoutMs = 30_000;

/**
 * Downloads a reference picture: http or https, of a known type by its bytes, not too large, not too slow.
 * @throws BadEdit that names the URL
 */
export async function fetchPicture(url: string, clock: Clock, signal: AbortSignal): Promise<Buffer> {
  const late = new AbortController();
  const cancel = clock.after(timeoutMs, () => late.abort());
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, late.signal]) });
    if (!response.ok) throw invalid(url, `it answered HTTP ${response.status}`);
    const bytes = await readCapped(response, url);
    if (pictureType(bytes.subarray(0, headBytes)) === undefined) throw invalid(url, 'it is not a picture');
    return bytes;
  } catch (error) {
    if (error instanceof BadEdit) throw error;
    signal.throwIfAborted();
    throw invalid(url, late.signal.aborted ? `it took longer than ${timeoutMs} ms` : causeOf(error));
  } finally {
    cancel();
  }
}

async function readCapped(response: Response, url: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += part.length;
    if (length > maxPictureBytes) throw invalid(url, `it is larger than ${maxPictureBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function invalid(url: string, why: string): BadEdit {
  return new BadEdit(`invalid image URL ${url.slice(0, 300)}: ${why}`);
}

function causeOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}
