// The same with the published client, used as its README shows; it sends a row once and throws where the reply is lost.
// node runpod-sdk-script.mjs edits.jsonl out      (BASE_URL and API_KEY in the environment)
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import pLimit from 'p-limit';
import runpodSdk from 'runpod-sdk';

const [manifest, out] = process.argv.slice(2);
const { BASE_URL, API_KEY } = process.env;
const endpoint = runpodSdk(API_KEY, { baseUrl: `${BASE_URL}/v2` }).endpoint('image-edit');

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
    const { succeeded, output, error } = await endpoint.runSync({ input: { images, prompt, output_format } });
    if (!succeeded) throw new Error(error ?? 'not completed');
    const picture = await fetch(output.image_url);
    await writeFile(file, Buffer.from(await picture.arrayBuffer()));
    await appendFile(`${out}/done.csv`, `${id},${output.cost}\n`);
  } catch (error) {
    failed += 1;
    console.error(`${id}: ${error.message}`);
  }
}
