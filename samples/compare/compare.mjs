import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmulator } from 'millrace/emulator';
import { judge } from './judge.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const script = (name) => (place) => [here(`contenders/${name}.mjs`), place.manifest, place.out];

const contenders = [
  { name: 'a p-limit script', command: script('p-limit-script') },
  { name: 'runpod-sdk', command: script('runpod-sdk-script') },
  { name: 'millrace', command: millrace() },
  { name: 'millrace --mode async', command: millrace('--mode', 'async') },
];

function millrace(...more) {
  const main = here('../../dist/runners/cli/main.js');
  const options = ['--endpoint', 'image-edit', '--concurrency', '8', '--quiet', ...more];
  return ({ manifest, out }) => [main, 'run', manifest, '--out', out, ...options];
}

const pictures = ['lake.jpg', 'boat.png', 'cat.png', 'city.png', 'fruit.jpg', 'desert.jpg', 'poster.png'];
const prompts = ['black and white', 'vintage look', 'more vivid colours', 'tint blue', 'a white border'];

/**
 * Sends the same edits through each contender against an emulator of its own that loses the same share of replies. When
 * half of the edits are on the bill the contender is killed with -9; it is started again, the same way, and may end.
 */
export async function compare({ edits = 200, seed = 7, lost = 0.05, say = () => undefined } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-compare-'));
  try {
    const verdicts = [];
    for (const contender of contenders) {
      say(`${contender.name} …`);
      verdicts.push(await contend(contender, { edits, seed, lost, folder }));
    }
    return verdicts;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function contend({ name, command }, { edits, seed, lost, folder }) {
  const emulator = await startEmulator({
    ...{ seed, workers: 8, latency: 'uniform:40-120', faults: `reset-after@runsync+run=${lost}` },
    files: here('../pictures'),
  });
  try {
    const place = { manifest: join(folder, 'edits.jsonl'), out: join(folder, name.replaceAll(' ', '-')) };
    await mkdir(place.out, { recursive: true });
    const rows = rowsOf(edits, (picture) => emulator.fileUrl(picture));
    await writeFile(place.manifest, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const args = command(place);
    await untilHalf(start(args, emulator, folder), emulator, edits / 2);
    const again = start(args, emulator, folder);
    const [exitCode] = await once(again, 'exit');
    return {
      name,
      exitCode,
      ...(await judge({ ids: rows.map(({ id }) => id), out: place.out, bill: emulator.bill() })),
    };
  } finally {
    await emulator.close();
  }
}

/** The id stands in the prompt as well: by it the bill says which row was bought. */
function rowsOf(count, urlOf) {
  return Array.from({ length: count }, (_, index) => {
    const id = `edit-${String(index + 1).padStart(3, '0')}`;
    const prompt = `${prompts[index % prompts.length]} (${id})`;
    return { id, images: [urlOf(pictures[index % pictures.length])], prompt, output_format: 'jpeg' };
  });
}

/** What a runner notes about its runs outside of their folders goes away with them. */
function start(args, { baseUrl, apiKey }, folder) {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, XDG_STATE_HOME: join(folder, 'state'), BASE_URL: baseUrl, API_KEY: apiKey };
  const own = { MILLRACE_BASE_URL: baseUrl, MILLRACE_API_KEY: apiKey };
  return spawn(process.execPath, args, { env: { ...env, ...own }, stdio: 'ignore' });
}

async function untilHalf(child, emulator, half) {
  const ended = once(child, 'exit');
  const watch = setInterval(() => emulator.bill().length >= half && child.kill('SIGKILL'), 5);
  const [code, signal] = await ended;
  clearInterval(watch);
  if (signal !== 'SIGKILL') throw new Error(`ended with ${code} before half of the edits were bought`);
}
