import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const imports = /^(?:import|export) (?!type )([^;]*?) from '([^']+)'/gms;

/** All that a module loads before it does anything: our own files, and packages by their names. */
function loadedBy(file: string): Set<string> {
  const loaded = new Set([file]);
  for (const path of loaded) {
    if (!existsSync(path)) continue;
    for (const [, names = '', from = ''] of readFileSync(path, 'utf8').matchAll(imports)) {
      if (/^\{\s*(?:type [\w ]+,?\s*)+\}$/.test(names)) continue;
      loaded.add(from.startsWith('.') ? join(dirname(path), from).replace(/\.js$/, '.ts') : from);
    }
  }
  return loaded;
}

it('a plan loads nothing of a run: a short one would take twice as long', () => {
  const loaded = loadedBy('runners/cli/commands/plan-command.ts');
  expect(loaded).toContain('runners/batch/manifest/plan-manifest.ts');
  const ofRuns = [...loaded].filter((path) =>
    /^(?:rxjs|got)$|batch\/internal|batch\/start|batch\/journal\/(?!rows\/column)/.test(path),
  );
  expect(ofRuns).toEqual([]);
});
