// npm run compare                   prints the table
// npm run compare -- --write        and puts it into the README beside this file
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { compare } from './compare.mjs';
import { table } from './table.mjs';

const { values } = parseArgs({
  options: {
    edits: { type: 'string', default: '200' },
    seed: { type: 'string', default: '7' },
    write: { type: 'boolean', default: false },
  },
});
const began = Date.now();
const say = (line) => process.stderr.write(`${line}\n`);
const verdicts = await compare({ edits: Number(values.edits), seed: Number(values.seed), say });
const machine = `${cpus().length} × ${cpus()[0].model.trim()}, Node ${process.version}`;
const day = new Date().toISOString().slice(0, 10);
const took = Math.round((Date.now() - began) / 1000);
const text = `${table(verdicts)}\n\nMeasured on ${day} in ${took} s, seed ${values.seed}, ${machine}.`;
console.log(text);
if (values.write) {
  const readme = new URL('README.md', import.meta.url);
  const [before, , after] = (await readFile(readme, 'utf8')).split(/(<!-- table -->[^]*<!-- \/table -->)/);
  await writeFile(readme, `${before}<!-- table -->\n\n${text}\n\n<!-- /table -->${after}`);
}
