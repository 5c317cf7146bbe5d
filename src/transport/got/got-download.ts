import type { Request, Response } from 'got';
import { Observable } from 'rxjs';
import type { Download, Downloaded, DownloadHead, DownloadRequest } from './download.js';
import { faultOf, stalled, tooLarge, TransportError } from '../transport-error.js';
import { gotDelays, gotFault } from './got-fault.js';
import { createGotFiles, type GotFilesOptions, travel, type Trip } from './got-trip.js';
import type { KeepAliveAgents } from '../connections/keep-alive-agents.js';
import { announcesMore, flatHeaders } from '../reply-body.js';
import { ReplyWatch } from '../reply-watch.js';

const defaultMaxBytes = 256 * 1024 * 1024;

export type GotDownloadOptions = GotFilesOptions;

/**
 * The default download, over got. Follows at most 3 redirects. Fetches from public addresses, and from those of a private
 * network or of this machine only if one of `services` is there itself; it checks the address to which it connects.
 */
export function createGotDownload(options: GotDownloadOptions = {}): Download {
  const files = createGotFiles(options);
  const { nearService, publicHosts, connections } = files;
  return (request, onChunk) =>
    new Observable((subscriber) => {
      const trip: DownloadTrip = { request, onChunk, url: request.url, guarded: false };
      const timeout = gotDelays(request.timeouts);
      const headers = rangeOf(request);
      const open = (url: URL) => (trip.guarded ? publicHosts : nearService).stream(url, { timeout, headers });
      travel(trip, open, files)
        .then(({ stream, head }) => receive(trip, stream, head))
        .then(
          (downloaded) => {
            subscriber.next(downloaded);
            subscriber.complete();
          },
          (error: unknown) => subscriber.error(errorFrom(error, trip, connections)),
        );
      return () => trip.stream?.destroy();
    });
}

interface DownloadTrip extends Trip {
  readonly request: DownloadRequest;
  readonly onChunk: Parameters<Download>[1];
  /** The error for the subscriber: what `onChunk` threw, or that no more bytes came. Any other is of got. */
  own?: { error: unknown };
}

async function receive(
  trip: DownloadTrip,
  stream: Request,
  { statusCode, headers }: Response,
): Promise<Downloaded> {
  const { maxBytes = defaultMaxBytes, resume } = trip.request;
  const reply = { status: statusCode, headers: flatHeaders(headers) };
  let bytes = 0;
  if (statusCode !== 200 && !(statusCode === 206 && resume !== undefined)) {
    stream.destroy();
    return { ...reply, bytes };
  }
  if (announcesMore(headers, maxBytes)) throw tooLarge(getting(trip), maxBytes);
  const { timeouts } = trip.request;
  const watch = new ReplyWatch(timeouts.idleMs, () => {
    trip.own = { error: stalled({ ...getting(trip), timeouts }) };
    stream.destroy();
  });
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      watch.came();
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(getting(trip), maxBytes);
      await handOn(trip, chunk, reply);
    }
  } finally {
    watch.end();
  }
  return { ...reply, bytes };
}

/** Headers in addition to those of every request for a file. */
function rangeOf({ resume }: DownloadRequest): Record<string, string> {
  return resume === undefined ? {} : { range: `bytes=${resume.from}-`, 'if-range': resume.validator };
}

async function handOn(trip: DownloadTrip, chunk: Buffer, head: DownloadHead): Promise<void> {
  try {
    await trip.onChunk(chunk, head);
  } catch (error) {
    trip.own = { error };
    throw error;
  }
}

function errorFrom(
  error: unknown,
  trip: DownloadTrip,
  connections: Pick<KeepAliveAgents, 'neverConnected'>,
): unknown {
  trip.stream?.destroy();
  if (trip.own) return trip.own.error;
  if (error instanceof TransportError) return error;
  return faultOf(getting(trip), gotFault(error, connections, trip.head !== undefined));
}

function getting({ url }: Trip): { method: 'GET'; url: string; headers: Record<string, string> } {
  return { method: 'GET', url, headers: {} };
}
