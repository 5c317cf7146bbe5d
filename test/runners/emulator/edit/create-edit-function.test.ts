import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../../../runners/emulator/index.js';
import { type Asking, asking } from '../../../support/ask-emulator.js';
import { type ManualClock, manualClock } from '../../../support/manual-clock.js';

const folder = mkdtempSync(join(tmpdir(), 'millrace-edit-'));
let emulator: Emulator;
let ask: Asking;
let clock: ManualClock;

const plain = (name: string, width: number, height: number, background: string) =>
  sharp({ create: { width, height, channels: 3, background } }).toFile(join(folder, name));

beforeAll(async () => {
  await plain('red.png', 300, 200, '#ff0000');
  await plain('blue.jpg', 200, 300, '#0000ff');
  await plain('green.webp', 200, 200, '#00ff00');
  await plain('grey.gif', 100, 100, '#808080');
  await sharp({
    create: { width: 40, height: 40, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0 } },
  }).toFile(join(folder, 'clear.png'));
  writeFileSync(
    join(folder, 'broken.png'),
    Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(50)]),
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

beforeEach(async () => {
  clock = manualClock();
  emulator = await startEmulator({ clock, files: folder });
  ask = asking(emulator);
});
afterEach(() => emulator.close());

const file = (name: string) => emulator.fileUrl(name) as string;
const edit = (images: string[], prompt = 'as it is', more: object = {}) =>
  ask.post('/v2/image-edit/runsync', { input: { images, prompt, ...more } });
async function pictureOf(url: string) {
  const response = await fetch(url);
  const bytes = Buffer.from(await response.arrayBuffer());
  const { format, width, height } = await sharp(bytes).metadata();
  return {
    type: response.headers.get('content-type'),
    length: Number(response.headers.get('content-length')),
    bytes,
    format,
    width,
    height,
  };
}
const edited = async (...args: Parameters<typeof edit>) =>
  pictureOf((await edit(...args)).json.output.image_url);
const colourAt = async (bytes: Buffer, left: number, top: number) =>
  [...(await sharp(bytes).removeAlpha().extract({ left, top, width: 1, height: 1 }).raw().toBuffer())].map(
    (value) => (value > 200 ? 1 : value < 60 ? 0 : 0.5),
  );

describe('an image edit', () => {
  it('answers as spec 2.6 has it, and the picture can be had without a key', async () => {
    const { status, json } = await edit([file('red.png')]);
    expect(status).toBe(200);
    expect(json).toEqual({
      id: expect.any(String),
      status: 'COMPLETED',
      delayTime: expect.any(Number),
      executionTime: expect.any(Number),
      output: {
        image_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/pictures\/[\w-]+\.png$/),
        cost: 0.0875,
      },
      workerId: expect.any(String),
    });
    const picture = await pictureOf(json.output.image_url);
    expect(picture).toMatchObject({
      type: 'image/png',
      format: 'png',
      width: 1024,
      height: 683,
      length: picture.bytes.length,
    });
    const head = await fetch(json.output.image_url, { method: 'HEAD' });
    expect([head.status, Number(head.headers.get('content-length'))]).toEqual([200, picture.bytes.length]);
  });

  it.each([
    [{}, 1024, 683, 'png', 87_500],
    [{ resolution: '2k', aspect_ratio: '16:9', output_format: 'jpeg' }, 2048, 1152, 'jpeg', 130_000],
    [{ resolution: '4k', aspect_ratio: '1:1', output_format: 'jpeg' }, 4096, 4096, 'jpeg', 175_000],
    [{ resolution: '1k', aspect_ratio: '9:16' }, 576, 1024, 'png', 87_500],
  ])('%o: %d × %d %s for %d µ$', async (more, width, height, format, cost) => {
    expect(await edited([file('red.png')], 'as it is', more)).toMatchObject({ width, height, format });
    expect(emulator.bill()).toMatchObject([
      { endpoint: 'image-edit', status: 'COMPLETED', executions: 1, costMicroDollars: cost },
    ]);
  });

  it('answers in base64 instead of a URL', async () => {
    const { output } = (
      await edit([file('red.png')], 'as it is', { enable_base64_output: true, output_format: 'jpeg' })
    ).json;
    expect(Object.keys(output)).toEqual(['image_base64', 'cost']);
    expect(await sharp(Buffer.from(output.image_base64, 'base64')).metadata()).toMatchObject({
      format: 'jpeg',
      width: 1024,
    });
  });

  it('works by /run and polling as well', async () => {
    const id = await ask.run('image-edit', { images: [file('red.png')], prompt: 'blur' });
    await ask.until('image-edit', { completed: 1 });
    expect((await ask.status('image-edit', id)).output.cost).toBe(0.0875);
  });

  it('combines pictures: rows, side by side, stacked, blended, inset', async () => {
    const both = [file('red.png'), file('blue.jpg')];
    const side = await edited(both, 'side by side', { aspect_ratio: '2:1' });
    expect([await colourAt(side.bytes, 100, 256), await colourAt(side.bytes, 1_000, 256)]).toEqual([
      [1, 0, 0],
      [0, 0, 1],
    ]);
    const stack = await edited(both, 'stacked', { aspect_ratio: '1:2' });
    expect([await colourAt(stack.bytes, 256, 60), await colourAt(stack.bytes, 256, 1_000)]).toEqual([
      [1, 0, 0],
      [0, 0, 1],
    ]);
    const blend = await edited(both, 'blend');
    expect(await colourAt(blend.bytes, 500, 300)).toEqual([0.5, 0, 0.5]);
    const inset = await edited(both, 'the second as an inset');
    expect([await colourAt(inset.bytes, 20, 20), await colourAt(inset.bytes, 900, 560)]).toEqual([
      [1, 0, 0],
      [0, 0, 1],
    ]);
    const three = await edited([...both, file('green.webp')], 'put them together');
    const { width, height } = three;
    const corners = [20, width - 20].flatMap((x) => [20, height - 20].map((y) => [x, y] as const));
    const seen = await Promise.all(corners.map(([x, y]) => colourAt(three.bytes, x, y)));
    expect(new Set(seen.map(String)).size).toBe(3);
  });

  it('takes 14 references, also of other types and without much room', async () => {
    const many = Array.from({ length: 14 }, (_, n) =>
      file(['red.png', 'blue.jpg', 'green.webp', 'grey.gif'][n % 4]!),
    );
    expect(await edited(many, 'all of them')).toMatchObject({ format: 'png' });
    for (const prompt of ['inset, white border, caption "x"', 'stacked', 'blend'])
      expect(await edited(many, prompt, { aspect_ratio: '99999:1' })).toMatchObject({
        width: 1024,
        height: 16,
      });
  });

  it('applies what the prompt names: captions over looks, borders around all', async () => {
    const { bytes } = await edited(
      [file('red.png')],
      'A white border of 20 and the caption "Mill", then grayscale',
    );
    const { channels } = await sharp(bytes).stats();
    expect(Math.abs(channels[0]!.mean - channels[2]!.mean)).toBeLessThan(2);
    expect(await colourAt(bytes, 5, 340)).toEqual([1, 1, 1]);
    expect(await colourAt(bytes, 40, 650)).toEqual([0, 0, 0]);
  });

  it('shows transparent parts white', async () => {
    expect(await colourAt((await edited([file('clear.png')])).bytes, 500, 500)).toEqual([1, 1, 1]);
  });
});

describe('a picture', () => {
  it('expires after 7 days', async () => {
    const { image_url: url } = (await edit([file('red.png')])).json.output;
    await clock.advance(7 * 24 * 3_600_000 - 1);
    expect((await fetch(url)).status).toBe(200);
    await clock.advance(1);
    const gone = await fetch(url);
    expect([gone.status, await gone.json()]).toEqual([
      404,
      { error: 'picture not found', detail: 'it never was, or its 7 days are over' },
    ]);
  });

  it.each([
    ['picture-500=1', 500],
    ['picture-403=1', 403],
    ['404@picture=1', 404],
  ])('meets %s, and the edit does not', async (faults, code) => {
    await emulator.close();
    emulator = await startEmulator({ clock, files: folder, faults });
    ask = asking(emulator);
    const { output } = (await edit([file('red.png')])).json;
    expect((await fetch(output.image_url)).status).toBe(code);
  });

  it('can come broken, as a page, or not to its end', async () => {
    const { image_url: url } = (await edit([file('red.png')])).json.output;
    const whole = (await pictureOf(url)).length;
    let fault = 'malformed';
    const faulty = await startEmulator({
      clock,
      files: folder,
      faultOf: ({ operation }) => (operation === 'picture' ? fault : ''),
    });
    const { image_url } = (
      await asking(faulty).post('/v2/image-edit/runsync', {
        input: { images: [file('red.png')], prompt: 'x' },
      })
    ).json.output;
    const short = Buffer.from(await (await fetch(image_url)).arrayBuffer());
    expect(short.length).toBe(Math.floor((whole * 2) / 3));
    fault = 'html';
    expect((await fetch(image_url)).headers.get('content-type')).toBe('text/html');
    fault = 'cut';
    await expect(fetch(image_url).then((response) => response.arrayBuffer())).rejects.toThrow();
    await faulty.close();
  });
});

describe('a bad edit', () => {
  let host: Server;
  let origin: string;

  beforeAll(async () => {
    host = createServer((request, response) => {
      if (request.url === '/500') response.writeHead(500).end('no');
      else if (request.url === '/text') response.end('just a text');
      else if (request.url === '/slow') response.writeHead(200).flushHeaders();
      else if (request.url === '/cut')
        response.writeHead(200, { 'content-length': 99 }).write('\x89PNG', () => response.destroy());
      else if (request.url === '/huge') {
        response.write(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'));
        for (let n = 0; n < 31; n += 1) response.write(Buffer.alloc(1_000_000));
        response.end();
      }
    });
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    host.closeAllConnections();
    host.close();
  });

  const failure = async (images: string[], prompt = 'x', more = {}) => {
    const { status, json } = await edit(images, prompt, more);
    expect(json).toMatchObject({ id: expect.any(String), status: 'FAILED' });
    expect(json).not.toHaveProperty('output');
    expect(emulator.bill().at(-1)).toMatchObject({ status: 'FAILED', costMicroDollars: 0 });
    return [status, json.error as string];
  };

  it.each([
    ['/500', /^invalid image URL http.*\/500: it answered HTTP 500$/],
    ['/text', /: it is not a picture$/],
    ['/cut', /^invalid image URL .*\/cut: /],
    ['/huge', /: it is larger than 30000000 bytes$/],
  ])('%s as a reference is FAILED under 400 and costs nothing', async (path, message) => {
    const [status, error] = await failure([file('red.png'), origin + path]);
    expect(status).toBe(400);
    expect(error).toMatch(message);
  });

  it('a host that nobody answers for, or a broken picture, is 400', async () => {
    expect((await failure(['http://127.0.0.1:9/x.png']))[0]).toBe(400);
    expect(await failure([file('broken.png')])).toEqual([
      400,
      expect.stringMatching(/^invalid image URL .*broken\.png: /),
    ]);
    expect((await failure([`${emulator.baseUrl}/files/none.png`]))[0]).toBe(400);
  });

  it('a reference that takes longer than 30 s is 400', async () => {
    const failed = failure([`${origin}/slow`]);
    while (clock.pending() < 2) await ask.get('/v2/echo/health');
    await clock.advance(30_000);
    expect(await failed).toEqual([400, expect.stringMatching(/it took longer than 30000 ms$/)]);
  });

  it('an input outside of spec 2.5 is 400, and by /run a FAILED job', async () => {
    expect(await failure([], 'x')).toEqual([400, 'input.images: must have 1 to 14 entries']);
    expect((await failure([file('red.png')], 'x', { resolution: '8k' }))[0]).toBe(400);
    const id = await ask.run('image-edit', { images: [file('red.png')] });
    await ask.until('image-edit', { failed: 3 });
    expect(await ask.get(`/v2/image-edit/status/${id}`)).toMatchObject({
      status: 200,
      json: { status: 'FAILED', error: 'input.prompt: must be a text' },
    });
  });
});
