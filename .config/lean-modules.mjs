// What of the dependencies and of node a short command would load and never call: esbuild's plugins for the command line.

/** commander starts programs of their own for some commands, and there are none here: what it would start them with is half of a help. */
const noPrograms = {
  name: 'no-programs',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer, path }) =>
      importer.includes('node_modules/commander/') ? { path, namespace: 'no-programs' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'no-programs' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/** No command writes a JSON schema: how zod makes one is a fifth of its code. */
const noJsonSchemas = {
  name: 'no-json-schemas',
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/core\/(json-schema-processors|to-json-schema)\.js$/ }, async ({ path }) => {
      const names = Object.keys(await import(path));
      return { contents: names.map((name) => `export const ${name} = () => undefined;`).join('\n') };
    });
  },
};

/** Modules of node that a short command calls rarely, and whose loading takes 5 % of it: its own code loads each at its first call. */
const lazyModules = {
  name: 'lazy-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:(buffer|crypto|os|stream\/promises|util|zlib)$/ }, (found) => {
      const { importer, path, namespace } = found;
      const isOwn = namespace === 'file' && !importer.includes('node_modules/');
      return isOwn ? { path, namespace: 'lazy-modules' } : { path, external: true, sideEffects: false };
    });
    onLoad({ filter: /./, namespace: 'lazy-modules' }, async ({ path }) => {
      const all = Object.entries(await import(path)).filter(([name]) => name !== 'default');
      const isCalled = ([name, value]) => typeof value === 'function' && /^[a-z]/.test(name);
      const names = all.filter((each) => !isCalled(each)).map(([name]) => name);
      const lines = [
        `let kept; const loaded = () => kept ??= process.getBuiltinModule('${path}');`,
        ...all
          .filter(isCalled)
          .map(([name]) => `export const ${name} = (...given) => loaded().${name}(...given);`),
        `export { ${names.join(', ')} } from '${path}';`,
      ];
      return { contents: lines.join('\n') };
    });
  },
};

export const leanModules = [noPrograms, noJsonSchemas, lazyModules];
