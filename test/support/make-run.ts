import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { drawPicture } from './draw-picture.js';

/** A run as it lies on the disk after its end, without a service behind it. */
export interface MadeRun {
  /** The output folder; the manifest's pictures lie beside it, under `photos/`. */
  folder: string;
  rows: number;
  /** Rows beyond `rows` that have no outcome yet. @defaultValue 0 */
  toDo?: number;
  /** Draws the pictures; without them the files only name them. @defaultValue true */
  pictures?: boolean;
  /** Every so many rows has an earlier picture behind it; 0: none. @defaultValue 40 */
  earlierEvery?: number;
  /** The cap in USD, as `--max-cost` gave it. */
  maxCost?: number;
  /** Puts these words where a service or a manifest could put them: prompts, ids, errors, URLs. */
  hostile?: string;
  /** The manifest's path in the journal. @defaultValue edits.csv */
  manifest?: string;
  /** Every row completes. */
  flawless?: boolean;
}

const things = ['mug', 'bottle', 'lamp', 'plant', 'chair', 'clock', 'vase', 'bag'];
const places = [
  'on a terracotta shelf in the low evening sun',
  'by a tall window on a hazy morning, cool light from the left',
  'on raw linen, soft daylight, a hint of warm sun behind it',
  'in a dark study at night, one window, hills beyond',
  'in a garden in early summer, sunlit hills in the back',
  'against a rose plaster wall with window light',
  'on a yellow table at noon, hard sun, small shadow',
  'on violet paper, studio light, a window reflected',
];
const shapes = [
  { ratio: '1:1', width: 640, height: 640 },
  { ratio: '3:2', width: 720, height: 480 },
  { ratio: '4:5', width: 512, height: 640 },
  { ratio: '16:9', width: 768, height: 432 },
] as const;
const prices: Record<string, number> = { '1k': 0.0875, '2k': 0.13, '4k': 0.175 };
const begin = Date.UTC(2026, 10, 20, 9, 12, 4);
const hourMs = 3_600_000;

export async function makeRun(made: MadeRun): Promise<void> {
  const images = join(made.folder, 'images');
  await mkdir(images, { recursive: true });
  if (made.pictures ?? true) await drawReferences(join(dirname(made.folder), 'photos'));
  const files = openFiles(made.folder);
  const journal = journalWriter(files.journal);
  await journal({
    k: 'start',
    at: begin,
    version: '0.1.0',
    identity: { baseUrl: 'https://api.example.test', lbBaseUrl: '', local: false },
    manifest: made.manifest ?? 'edits.csv',
    settings: { concurrency: 8, ...(made.maxCost === undefined ? {} : { maxCostUsd: made.maxCost }) },
  });
  const lanes = Array.from({ length: 8 }, () => begin + 400);
  const totals = {
    completed: 0,
    failed: {} as Record<string, number>,
    reported: 0,
    estimated: 0,
    unknown: 0,
    calls: 0,
  };
  for (let row = 1; row <= made.rows; row++) {
    if (row === Math.ceil(made.rows * 0.6) && made.rows >= 100) {
      const end = Math.max(...lanes);
      await journal({ k: 'stop', at: end, exitCode: 130 });
      lanes.fill(end + 3 * hourMs);
      await journal({
        k: 'start',
        at: end + 3 * hourMs - 400,
        version: '0.1.0',
        identity: { baseUrl: 'https://api.example.test', lbBaseUrl: '', local: false },
        manifest: made.manifest ?? 'edits.csv',
        settings: { concurrency: 8, ...(made.maxCost === undefined ? {} : { maxCostUsd: made.maxCost }) },
      });
    }
    await oneRow(made, row, lanes, files, journal, totals);
  }
  await journal({
    k: 'stop',
    at: Math.max(...lanes),
    exitCode: Object.keys(totals.failed).length > 0 ? 1 : 0,
  });
  await Promise.all(Object.values(files).map((file) => new Promise((done) => file.end(done))));
  await writeFile(join(made.folder, 'summary.json'), JSON.stringify(summaryOf(made, totals), null, 2));
}

interface Totals {
  completed: number;
  failed: Record<string, number>;
  reported: number;
  estimated: number;
  unknown: number;
  calls: number;
}
type Files = ReturnType<typeof openFiles>;

async function oneRow(
  made: MadeRun,
  row: number,
  lanes: number[],
  files: Files,
  journal: ReturnType<typeof journalWriter>,
  totals: Totals,
): Promise<void> {
  const dice = diceOf(row);
  const lane = lanes.indexOf(Math.min(...lanes));
  const submittedAt = lanes[lane]! + dice(40);
  const delayTime = Math.round(180 + 2600 * dice(1) ** 4 + (row % 97 === 0 ? 14_000 : 0));
  const resolution = row % 11 === 0 ? '4k' : row % 4 === 0 ? '2k' : '1k';
  const executionTime = Math.round(
    { '1k': 7200, '2k': 10_900, '4k': 17_400 }[resolution] * (0.75 + dice(0.6)),
  );
  const settledAt = submittedAt + delayTime + executionTime + Math.round(dice(400));
  lanes[lane] = settledAt;
  const hostile = made.hostile ?? '';
  const id = hostile === '' ? `${things[row % 8]!}-${String(row).padStart(4, '0')}` : `${hostile}${row}`;
  const shape = shapes[(row * 7) % 4]!;
  const subject = row % 8;
  const background = (row * 5 + Math.floor(row / 8)) % 8;
  const remote = row % 9 === 0;
  const input = {
    images: [
      hostile !== ''
        ? `javascript:alert(${row})`
        : remote
          ? `https://pictures.example.test/${things[subject]!}.png`
          : `photos/${things[subject]!}.png`,
    ],
    prompt: hostile !== '' ? hostile : `Put the ${things[subject]!} ${places[background]!}`,
    resolution,
    aspect_ratio: shape.ratio,
    output_format: row % 5 === 0 ? 'jpeg' : 'png',
  };
  const jobId = `sync-${(row * 2654435761).toString(16).slice(0, 8)}-${row.toString(16).padStart(4, '0')}-u1`;
  const cost = prices[resolution]!;
  const failure = made.flawless === true ? undefined : failureOf(row, hostile);
  const statusCalls = row % 6 === 0 ? 1 + Math.round(dice(3)) : 0;
  totals.calls += statusCalls;
  await journal({
    k: 'intent',
    at: submittedAt,
    id,
    row,
    hash: jobId,
    kind: 'edit',
    endpoint: 'image-edit',
    mode: 'sync',
    attempt: 1,
    price: cost * 1e6,
    resolution,
    request: { kind: 'edit', input },
    cells: { ...input, images: input.images[0], note: 'autumn set' },
    columns: { note: 'autumn set' },
  });
  if (failure === undefined) {
    totals.completed++;
    const path = `images/${hostile === '' ? id : `hostile-${row}`}.${input.output_format}`;
    const picture = {
      subject,
      background,
      width: shape.width,
      height: shape.height,
      format: input.output_format as 'png' | 'jpeg',
    };
    const bytes = (made.pictures ?? true) ? await drawPicture(picture) : undefined;
    if (bytes !== undefined) await writeFile(join(made.folder, path), bytes);
    const estimated = row % 50 === 0;
    totals[estimated ? 'estimated' : 'reported'] += cost;
    const url =
      hostile !== '' ? 'javascript:alert(1)' : `https://results.example.test/${jobId}.${input.output_format}`;
    const image = {
      path,
      bytes: bytes?.length ?? 900_000,
      sha256: jobId.repeat(3).slice(0, 64),
      url,
      expiresAt: iso(settledAt + 168 * hourMs),
    };
    const result = {
      id,
      row,
      kind: 'edit',
      endpoint: 'image-edit',
      jobId,
      status: 'completed',
      output: { image_url: url, cost },
      image,
      cost,
      delayTime,
      executionTime,
      attempts: 1,
      submittedAt: iso(submittedAt),
      settledAt: iso(settledAt),
      request: { input },
      columns: { note: 'autumn set' },
    };
    await line(files.results, result);
    const every = made.earlierEvery ?? 40;
    if (every > 0 && row % every === 0) {
      const old = `images/${id}.earlier-1.${input.output_format}`;
      if (bytes !== undefined)
        await writeFile(
          join(made.folder, old),
          await drawPicture({ ...picture, background: (background + 3) % 8 }),
        );
      await line(files.earlier, {
        ...result,
        jobId: `${jobId}-0`,
        image: { ...image, path: old },
        settledAt: iso(settledAt - 60_000),
        request: { input: { ...input, prompt: `A ${things[subject]!}, nicer` } },
      });
    }
    files.costs.write(
      `${csv(id)},${row},1,${jobId},image-edit,${resolution},${cost},${estimated ? 'estimated' : 'reported'},${iso(settledAt)}\r\n`,
    );
    await journal({
      k: 'reply',
      at: settledAt,
      id,
      jobId,
      output: { image_url: url, cost },
      cost: cost * 1e6,
      source: 'reported',
      delayTime,
      executionTime,
      statusCalls,
      submittedAt,
    });
    await journal({
      k: 'outcome',
      at: settledAt,
      id,
      cost: cost * 1e6,
      source: 'reported',
      statusCalls,
      submittedAt,
      status: 'completed',
      image,
    });
  } else {
    totals.failed[failure.code] = (totals.failed[failure.code] ?? 0) + 1;
    const unknown = failure.code === 'unknown';
    if (unknown) totals.unknown += cost;
    await line(files.failures, {
      id,
      ...input,
      images: input.images[0],
      note: 'autumn set',
      error: failure,
      millrace: {
        row,
        kind: 'edit',
        endpoint: 'image-edit',
        ...(unknown ? {} : { jobId }),
        attempts: 1,
        submittedAt: iso(submittedAt),
        settledAt: iso(settledAt),
      },
    });
    files.costs.write(
      `${csv(id)},${row},1,${unknown ? '' : jobId},image-edit,${resolution},${unknown ? cost : 0},${unknown ? 'unknown' : 'estimated'},${iso(settledAt)}\r\n`,
    );
    await journal({
      k: 'outcome',
      at: settledAt,
      id,
      cost: 0,
      source: 'none',
      statusCalls,
      submittedAt,
      status: 'failed',
      error: failure,
    });
  }
}

function failureOf(
  row: number,
  hostile: string,
):
  | { code: string; message: string; detail?: string; httpStatus?: number; retryable: boolean; paid: string }
  | undefined {
  const printed = hostile === '' ? '' : ` ${hostile}`;
  if (row % 61 === 7)
    return {
      code: 'rejected',
      message: `Failed to download image from https://pictures.example.test/${row}.png: 404 Not Found${printed}`,
      httpStatus: 400,
      retryable: false,
      paid: 'no',
    };
  if (row % 73 === 5)
    return {
      code: 'job-failed',
      message: `CUDA out of memory. Tried to allocate ${(row % 7) + 1}.${row % 10}0 GiB on device 0${printed}`,
      detail: 'Traceback (most recent call last):\n  File "/src/handler.py", line 88, in handler',
      retryable: true,
      paid: 'no',
    };
  if (row % 149 === 30)
    return {
      code: 'unknown',
      message: `POST /v2/image-edit/runsync: the connection was reset after the request had been sent${printed}`,
      retryable: false,
      paid: 'maybe',
    };
  if (row % 211 === 90)
    return {
      code: 'download',
      message: `GET https://results.example.test/${row}.png: HTTP 503 after 5 tries${printed}`,
      httpStatus: 503,
      retryable: true,
      paid: 'yes',
    };
  return undefined;
}

function summaryOf(made: MadeRun, totals: Totals): unknown {
  const failed = Object.values(totals.failed).reduce((sum, count) => sum + count, 0);
  return {
    rows: { total: made.rows + (made.toDo ?? 0), completed: totals.completed, failed, toDo: made.toDo ?? 0 },
    failures: totals.failed,
    cost: { reported: totals.reported, estimated: totals.estimated, unknown: totals.unknown },
    times: { firstStartAt: new Date(begin).toISOString(), startedAt: new Date(begin).toISOString() },
    statusCalls: totals.calls,
    starts: 1,
    thisStart: { ended: made.rows, completed: totals.completed, failed, unknown: 0 },
    prices,
  };
}

async function drawReferences(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [subject, name] of things.entries())
    await writeFile(join(folder, `${name}.png`), await drawPicture({ subject, width: 640, height: 640 }));
}

function openFiles(folder: string) {
  const open = (name: string): WriteStream => createWriteStream(join(folder, name));
  const files = {
    results: open('results.jsonl'),
    failures: open('failures.jsonl'),
    earlier: open('earlier.jsonl'),
    costs: open('costs.csv'),
    journal: open('journal.jsonl'),
  };
  files.costs.write('id,row,attempt,jobId,endpoint,resolution,cost,source,settledAt\r\n');
  return files;
}

/** Sequence number and checksum last, as the journal has them. */
function journalWriter(file: WriteStream): (record: object) => Promise<void> {
  let n = 0;
  return (record) => {
    const head = JSON.stringify({ n: ++n, ...record }).slice(0, -1);
    return lineText(file, `${head},"c":"${(crc32(head) >>> 0).toString(16).padStart(8, '0')}"}`);
  };
}

const line = (file: WriteStream, value: unknown) => lineText(file, JSON.stringify(value));

async function lineText(file: WriteStream, text: string): Promise<void> {
  if (!file.write(`${text}\n`)) await new Promise<void>((drained) => file.once('drain', drained));
}

const iso = (at: number) => new Date(at).toISOString();
const csv = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** The same row gives the same figures at every call. */
function diceOf(row: number): (upTo: number) => number {
  let state = (row * 2654435761) >>> 0;
  return (upTo) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 374761393) >>> 0;
    return (state / 2 ** 32) * upTo;
  };
}
