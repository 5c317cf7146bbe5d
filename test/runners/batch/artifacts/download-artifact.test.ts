import {
  asyncScheduler,
  concat,
  defer,
  ignoreElements,
  NEVER,
  of,
  Subject,
  throwError,
  type SchedulerAction,
  type SchedulerLike,
} from 'rxjs';
import { beforeEach, describe, expect, it } from 'vitest';
import { downloadArtifact } from '../../../../runners/batch/artifacts/download-artifact.js';
import { openImagesFolder } from '../../../../runners/batch/artifacts/artifact-name.js';
import type { Download } from '../../../../src/transport/got/download.js';
import { stalled, TransportError } from '../../../../src/transport/transport-error.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { onePixel } from '../../../support/other-server.js';

const url = 'https://pictures.example.test/a.png?signature=secret';
let disk: ForgetfulDisk;
let waits: number[];
/** Waits pass at once, and are noted. */
let scheduler: SchedulerLike;

beforeEach(async () => {
  disk = new ForgetfulDisk();
  await openImagesFolder(disk, '/out');
  waits = [];
  scheduler = {
    now: () => 0,
    schedule: <S>(work: (this: SchedulerAction<S>, state?: S) => void, delay = 0, state?: S) => {
      waits.push(delay);
      return asyncScheduler.schedule(work, 0, state);
    },
  };
});

type Answer = { status: number; body?: Buffer; headers?: Record<string, string> } | TransportError;

/** Answers one after another; the last one for good. */
function downloads(...answers: Answer[]): Download {
  return (_request, onChunk) =>
    defer(() => {
      const answer = (answers.length > 1 ? answers.shift() : answers[0])!;
      if (answer instanceof TransportError) return throwError(() => answer);
      const { status, body = Buffer.alloc(0), headers = {} } = answer;
      return defer(async () => {
        if (body.length > 0) await onChunk(body);
        return { status, headers, bytes: body.length };
      });
    });
}

function fetchPicture(download: Download, left$ = NEVER, address = url) {
  const place = { disk, folder: '/out', id: 'a', collides: false };
  return downloadArtifact(address, place, { download, scheduler, random: () => 1, maxRetries: 4, left$ });
}

const good = { status: 200, body: onePixel, headers: { 'content-length': String(onePixel.length) } };
const reset = new TransportError('reset', 'ECONNRESET', 'maybe', false, 'GET: ECONNRESET');

describe('downloadArtifact', () => {
  it('saves what comes', async () => {
    expect(await fetchPicture(downloads(good))).toMatchObject({ path: 'images/a.png', bytes: 70 });
  });

  it('names the address without the parts that may be secret', async () => {
    const secret = 'https://name:password@pictures.example.test/a.png?signature=secret#end';
    await expect(fetchPicture(downloads({ status: 403 }), NEVER, secret)).rejects.toMatchObject({
      message: 'GET https://pictures.example.test/a.png: HTTP 403',
    });
  });

  it('tries again by backoff while that may help', async () => {
    const short = { ...good, body: onePixel.subarray(0, 40) };
    const download = downloads({ status: 503 }, { status: 429 }, reset, short, good);
    expect(await fetchPicture(download)).toMatchObject({ path: 'images/a.png' });
    expect(waits).toEqual([500, 1_000, 2_000, 4_000]);
  });

  it('has ten minutes for a picture on a slow line, and gives up a host from which nothing comes for one', async () => {
    const limits: number[] = [];
    const stalling: Download = (request, onChunk) => {
      limits.push(request.timeouts.readMs);
      const fault = stalled({ ...request, method: 'GET' });
      return concat(
        defer(async () => onChunk(onePixel.subarray(0, 20))).pipe(ignoreElements()),
        throwError(() => fault),
      );
    };
    await expect(fetchPicture(stalling)).rejects.toThrow('no byte came for 60 s (tries: 5)');
    expect(limits).toEqual([600_000, 600_000, 600_000, 600_000, 600_000]);
    expect(disk.paths()).toEqual([]);
  });

  it('takes no picture for whole whose end has not come, though nothing announced its length [fault 32]', async () => {
    const cut = { status: 200, body: onePixel.subarray(0, 60) };
    expect(await fetchPicture(downloads(cut, good))).toMatchObject({ path: 'images/a.png', bytes: 70 });
    await expect(fetchPicture(downloads(cut))).rejects.toMatchObject({
      mayPass: true,
      message: expect.stringContaining('cut short: 60 bytes came') as string,
    });
    expect(await disk.list('/out/images')).toEqual(['a.png']);
  });

  it('keeps a whole picture whatever stands behind its end, and asks again for one that is cut short within its length', async () => {
    const body = Buffer.concat([onePixel, Buffer.alloc(70_000)]);
    const announced = (bytes: Buffer) => ({ 'content-length': String(bytes.length) });
    expect(await fetchPicture(downloads({ status: 200, headers: announced(body), body }))).toMatchObject({
      bytes: body.length,
    });
    const cut = onePixel.subarray(0, -5);
    const failing = downloads({ status: 200, headers: announced(cut), body: cut });
    await expect(fetchPicture(failing)).rejects.toThrow('cut short');
    const mended = downloads(
      { status: 200, headers: announced(cut), body: cut },
      { status: 200, headers: announced(onePixel), body: onePixel },
    );
    expect(await fetchPicture(mended)).toMatchObject({ bytes: onePixel.length });
  });

  it('gives up after the tries, with what was said last and without the query of the URL', async () => {
    await expect(fetchPicture(downloads({ status: 503 }))).rejects.toMatchObject({
      code: 'picture',
      httpStatus: 503,
      message: 'GET https://pictures.example.test/a.png: HTTP 503 (tries: 5)',
    });
  });

  it.each([403, 404, 410])('HTTP %i is final [fault 32]', async (status) => {
    await expect(fetchPicture(downloads({ status }))).rejects.toMatchObject({ httpStatus: status });
    expect(waits).toEqual([]);
  });

  it('a page instead of a picture, a certificate that is not right, too many bytes: final [fault 32]', async () => {
    await expect(
      fetchPicture(downloads({ status: 200, body: Buffer.from('<html>…') })),
    ).rejects.toMatchObject({ isNoPicture: true });
    for (const phase of ['tls', 'too-large'] as const) {
      const fault = new TransportError(phase, undefined, 'no', false, phase);
      await expect(fetchPicture(downloads(fault))).rejects.toMatchObject({ code: 'picture' });
    }
    expect(waits).toEqual([]);
  });

  it('a disk that fails is no fault of the picture', async () => {
    disk = new ForgetfulDisk({ faults: [{ code: 'EIO', call: 'sync' }] });
    await disk.mkdir('/out/images');
    await expect(fetchPicture(downloads(good))).rejects.toMatchObject({ code: 'disk', errno: 'EIO' });
  });

  it('is left for later when it is told so: while it waits, and while it runs', async () => {
    const left$ = new Subject<never>();
    const waiting = fetchPicture(() => {
      queueMicrotask(() => left$.next(undefined as never));
      return NEVER;
    }, left$);
    expect(await waiting).toBeUndefined();
    expect(await fetchPicture(downloads({ status: 503 }), of(1) as never)).toBeUndefined();
    expect(disk.paths()).toEqual([]);
  });
});
