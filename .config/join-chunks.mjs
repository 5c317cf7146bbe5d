// Joins the small files of a bundle that are always loaded together.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

/**
 * Puts chunks of a split bundle into one file for each group: finding and reading fifty small files takes a third of a short command.
 * A chunk that a file outside of its group imports passes on what stands in the joined file, so that everything is still there once.
 * What is imported when it is needed is imported from the joined file itself.
 *
 * @param outputs of esbuild's metafile
 * @param groups by the joined file's name: the entry points that it takes, with all that they import and no earlier group has; those
 *   `without` which it is stay files of their own; of what they import only what an entry point `within` imports too
 * @returns what each file holds now; chunks that only pass on are left out
 */
export async function joinChunks(options, outputs, outdir, groups) {
  const joined = new Set();
  /** By the chunk that it takes the place of. */
  const moved = new Map();
  const all = { ...outputs };
  const bundle = (from) =>
    build({
      ...options,
      ...from,
      splitting: false,
      ignoreAnnotations: true,
      plugins: [only(joined, outdir)],
    });
  for (const [name, { entries, without = [], within = entries }] of Object.entries(groups)) {
    const left = without.map((entry) => outputOf(outputs, entry));
    const also = closure(outputs, within);
    const chunks = [...closure(outputs, entries)].filter(
      (chunk) => also.has(chunk) && !joined.has(chunk) && !left.includes(chunk),
    );
    for (const chunk of chunks) joined.add(chunk);
    const contents = chunks.map((chunk, at) => exportsOf(outputs[chunk], at, 'in', basename(chunk)));
    const stdin = { contents: contents.join(''), resolveDir: outdir };
    const outfile = `${outdir}/${name}.js`;
    await bundle({ stdin, outfile });
    const inputs = Object.assign({}, ...chunks.map((chunk) => outputs[chunk].inputs));
    all[outfile] = { inputs, bytes: statSync(outfile).size };
    chunks.forEach((chunk, at) => {
      writeFileSync(chunk, exportsOf(outputs[chunk], at, 'out', `${name}.js`));
      const own = outputs[chunk].exports.map((each) => `${each}:m.j${at}_${each}`);
      moved.set(basename(chunk), `import("./${name}.js").then(m=>({${own}}))`);
    });
    for (const file of left) await bundle({ entryPoints: [file], outfile: file, allowOverwrite: true });
  }
  const imported = importedFiles(outputs, joined);
  for (const chunk of joined) if (!imported.has(chunk)) rmSync(chunk);
  const left = Object.fromEntries(Object.entries(all).filter(([file]) => !joined.has(file)));
  for (const file of Object.keys(left)) importJoined(file, moved);
  return left;
}

/** Bundles what is joined, and leaves all other imports as they are. */
function only(joined, outdir) {
  const isInside = ({ path, kind }) =>
    kind === 'entry-point' || (kind !== 'dynamic-import' && joined.has(join(outdir, path)));
  return {
    name: 'only',
    setup: ({ onResolve }) =>
      onResolve({ filter: /./ }, (found) =>
        isInside(found) ? undefined : { path: found.path, external: true },
      ),
  };
}

/** A chunk's exports, into the joined file or out of it: there each has the chunk's number in its name. */
function exportsOf({ exports }, at, way, file) {
  const names = exports.map((own) => (way === 'in' ? `${own} as j${at}_${own}` : `j${at}_${own} as ${own}`));
  return `export{${names}}from"./${file}";\n`;
}

function outputOf(outputs, entry) {
  return Object.keys(outputs).find((name) => outputs[name].entryPoint === entry);
}

/** All that is loaded with these entry points. */
function closure(outputs, entries) {
  const seen = new Set(entries.map((entry) => outputOf(outputs, entry)));
  for (const name of seen)
    for (const { path, kind, external } of outputs[name].imports)
      if (kind === 'import-statement' && !external) seen.add(path);
  return seen;
}

/** The files that are still imported by their names: by what is not joined. */
function importedFiles(outputs, joined) {
  const imports = Object.entries(outputs).flatMap(([name, output]) =>
    output.imports.filter(({ kind }) => kind !== 'dynamic-import' && !joined.has(name)),
  );
  return new Set(imports.map(({ path }) => path));
}

/** A file that only passes on what is in another takes 1 % of a short command to find and read. */
function importJoined(file, moved) {
  const code = readFileSync(file, 'utf8');
  const direct = code.replace(/import\(\s*"\.\/([^"]+)"\s*\)/g, (text, name) => moved.get(name) ?? text);
  writeFileSync(file, direct);
}
