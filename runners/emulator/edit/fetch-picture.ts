import type { Clock } from '../clock.js';
import { maxPictureBytes } from '../../pictures/find-local-picture.js';
import { headBytes, pictureType } from '../../pictures/picture-type.js';
import { BadEdit } from './read-edit-request.js';

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
    if (pictureType(bytes.subarray(0, headBytes)) === undefined) throw invalid(url, 'it is no picture');
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
