// The script that people write: p-limit, fetch, a few retries, and "skip it if the file is there".
// node p-limit-script.mjs edits.jsonl out      (BASE_URL and API_KEY in the environment)
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import pLimit from 'p-limit';

const [manifest, out] = process.argv.slice(2);
const { BASE_URL, API_KEY } = process.env;
const maxTries = 4;

const lines = (await readFile(manifest, 'utf8')).trim().split('\n');
const rows = lines.map((line) => JSON.parse(line));
await mkdir(out, { recursive: true });

let failed = 0;
const limit = pLimit(8);
await Promise.all(rows.map((row) => limit(() => editRow(row))));

const done = (await readFile(`${out}/done.csv`, 'utf8')).trim().split('\n');
const cost = done.reduce((sum, line) => sum + Number(line.split(',')[1]), 0);
console.log(`${done.length} of ${rows.length} done, ${failed} failed, $${cost.toFixed(4)}`);

async function editRow({ id, images, prompt, output_format }) {
  const file = `${out}/${id}.jpg`;
  if (existsSync(file)) return;
  try {
    const { output } = await withRetries(() => submit({ images, prompt, output_format }));
    const picture = await withRetries(() => download(output.image_url));
    await writeFile(file, picture);
    await appendFile(`${out}/done.csv`, `${id},${output.cost}\n`);
  } catch (error) {
    failed += 1;
    console.error(`${id}: ${error.message}`);
  }
}

async function submit(input) {
  const response = await fetch(`${BASE_URL}/v2/image-edit/runsync`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ input }),
  });
  const reply = await response.json();
  if (!response.ok || reply.status !== 'COMPLETED') throw new Error(reply.error ?? `HTTP ${response.status}`);
  return reply;
}

async function download(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

async function withRetries(work, tries = 1) {
  try {
    return await work();
  } catch (error) {
    if (tries >= maxTries) throw error;
    await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** tries));
    return withRetries(work, tries + 1);
  }
}
