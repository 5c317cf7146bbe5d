// Joins the small files of a bundle that are always loaded together.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, transform } from 'esbuild';

/**
 * Puts chunks of a split bundle into one file for each group: finding and reading fifty small files takes a third of a short command.
 * What imported a chunk imports the joined file in its place, so that everything is still there once.
 *
 * @param outputs of esbuild's metafile
 * @param groups by the joined file's name: the entry points that it takes, with all that they import and no earlier group has; those
 *   `without` which it is stay files of their own; of what they import only what an entry point `within` imports too
 * @returns what each file holds now
 */
export async function joinChunks(options, outputs, outdir, groups) {
  const joined = new Set();
  /** By the name of a chunk: the file that holds it, and its number there. */
  const moved = new Map();
  const all = { ...outputs };
  const uses = usesOf(outputs);
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
    const used = chunks.map((chunk) =>
      usedOutside(outputs[chunk].exports, uses.get(basename(chunk)), chunks),
    );
    const contents = chunks.map((chunk, at) => exportsOf(used[at], at, 'in', basename(chunk)));
    const stdin = { contents: contents.join(''), resolveDir: outdir };
    const outfile = `${outdir}/${name}.js`;
    await bundle({ stdin, outfile });
    const inputs = Object.assign({}, ...chunks.map((chunk) => outputs[chunk].inputs));
    all[outfile] = { inputs, bytes: statSync(outfile).size };
    chunks.forEach((chunk, at) => {
      writeFileSync(chunk, exportsOf(used[at], at, 'out', `${name}.js`));
      moved.set(basename(chunk), { file: `./${name}.js`, at, exports: used[at] });
    });
    for (const file of left) await bundle({ entryPoints: [file], outfile: file, allowOverwrite: true });
  }
  for (const chunk of joined) rmSync(chunk);
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

const dynamicImport = /import\(\s*"\.\/([^"]+)"\s*\)/g;
const staticImport = /import\s*(?:\{([^}]*)\}\s*from\s*)?"\.\/([^"]+)";/g;

/** By the name of a chunk: who imports it, and which of its exports; `all` where it is imported when it is called. */
function usesOf(outputs) {
  const uses = new Map();
  const use = (name, file, names) => {
    const ofChunk = uses.get(name) ?? new Map();
    uses.set(name, ofChunk.set(file, names));
  };
  for (const file of Object.keys(outputs)) {
    const code = readFileSync(file, 'utf8');
    for (const [, names = '', name] of code.matchAll(staticImport)) {
      const used = names.split(',').map((each) => each.trim().split(' as ')[0]);
      use(name, file, used);
    }
    for (const [, name] of code.matchAll(dynamicImport)) use(name, file, 'all');
  }
  return uses;
}

/** The exports of a chunk that files need which are not joined with it. */
function usedOutside(exports, uses = new Map(), chunks) {
  if ([...uses.values()].includes('all')) return exports;
  const names = [...uses].filter(([file]) => !chunks.includes(file)).flatMap(([, names]) => names);
  return exports.filter((name) => names.includes(name));
}

/** A chunk's exports, into the joined file or out of it: there each has the chunk's number in its name. */
function exportsOf(exports, at, way, file) {
  if (exports.length === 0) return `import"./${file}";\n`;
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

/** A file that only passes on what is in another takes 1 % of a short command to find and read: `status` would read 76 of them. */
function importJoined(file, moved) {
  const code = readFileSync(file, 'utf8');
  const seen = new Set();
  const direct = code
    .replace(dynamicImport, (text, name) => {
      const into = moved.get(name);
      const own = into?.exports.map((each) => `${each}:m.j${into.at}_${each}`);
      return into === undefined ? text : `import("${into.file}").then(m=>({${own}}))`;
    })
    .replace(staticImport, (text, names, name) => {
      const into = moved.get(name);
      if (into === undefined) return text;
      const isSeen = seen.has(into.file);
      seen.add(into.file);
      if (names === undefined) return isSeen ? '' : `import"${into.file}";`;
      const own = names.split(',').map((each) => each.trim().split(' as '));
      return `import{${own.map(([one, here = one]) => `j${into.at}_${one} as ${here}`)}}from"${into.file}";`;
    });
  writeFileSync(file, direct);
}

/**
 * Makes all files of a bundle CommonJS, in a folder that says so: node starts its loader for modules when the first one is imported,
 * which is a tenth of a help, and reads a module's file a second time. What is imported from elsewhere when it is called may be a module.
 *
 * @param outputs of joinChunks
 * @returns what each file holds now
 */
export async function asCommonJs(options, outputs, outdir) {
  const { minifyWhitespace, minifySyntax, minifyIdentifiers, lineLimit, target } = options;
  const minify = { minifyWhitespace, minifySyntax, minifyIdentifiers, lineLimit };
  const define = { 'import.meta.url': 'fileUrl' };
  const all = {};
  for (const [file, output] of Object.entries(outputs)) {
    const code = requiring(readFileSync(file, 'utf8'));
    const converted = await transform(code, { ...minify, define, target, format: 'cjs', platform: 'node' });
    writeFileSync(file, withFileUrl(converted.code));
    all[file] = { ...output, bytes: statSync(file).size };
  }
  writeFileSync(`${outdir}/package.json`, '{"type":"commonjs"}\n');
  return all;
}

/**
 * What is imported of the bundle's other files is read of them once, since an export of CommonJS is read by a call. So a file's exports
 * are values, and no file needs esbuild's helpers for exports, which are some 300 bytes.
 */
function requiring(code) {
  return code
    .replace(dynamicImport, (_, file) => `Promise.resolve().then(()=>require("./${file}"))`)
    .replace(staticImport, (_, names, file) =>
      names === undefined
        ? `require("./${file}");`
        : `const{${names.replaceAll(/ as /g, ':')}}=require("./${file}");`,
    )
    .replace(
      /export\s*\{([^}]*)\};?\s*$/,
      (_, names) => `module.exports={${names.replaceAll(/([\w$]+) as ([\w$]+)/g, '$2:$1')}};`,
    );
}

function withFileUrl(code) {
  if (!/\bfileUrl\b/.test(code)) return code;
  const [, shebang, rest] = /^(#!.*\n)?([^]*)$/.exec(code);
  return `${shebang ?? ''}const fileUrl=require("node:url").pathToFileURL(__filename).href;${rest}`;
}
