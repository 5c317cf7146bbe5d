import { readdirSync, readFileSync } from 'node:fs';

export interface Example {
  /** File and line, for people. */
  readonly name: string;
  readonly code: string;
}

/** Every TypeScript block of a README and every `@example` of the sources. */
export function findExamples(root: URL): Example[] {
  const files = ['README.md', ...['src', 'runners', 'samples'].flatMap((folder) => filesBelow(root, folder))];
  return files.flatMap((path) => {
    const text = readFileSync(new URL(path, root), 'utf8');
    const pattern = path.endsWith('.md')
      ? /^```ts\n(.*?)^```$/gms
      : /@example\s*\n\s*\* ```ts\n(.*?)\* ```$/gms;
    return [...text.matchAll(pattern)].map(({ 1: code, index }) => ({
      name: `${path}:${text.slice(0, index).split('\n').length}`,
      code: code!.replace(/^ *\* ?/gm, path.endsWith('.md') ? '$&' : '').trimEnd(),
    }));
  });
}

function filesBelow(root: URL, folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('README.md') || (folder !== 'samples' && path.endsWith('.ts')))
    .map((path) => `${folder}/${path}`)
    .sort();
}
