import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder of its own for one test. */
export interface Workplace {
  readonly folder: string;
  /** Writes a file of lines. */
  write(name: string, lines: readonly string[]): Promise<void>;
  /** The objects of a JSONL file; none when it is missing. */
  lines(name: string): Promise<Record<string, unknown>[]>;
  json(name: string): Promise<Record<string, unknown>>;
  /** Every file below a folder with its bytes as text. */
  everything(name: string): Promise<Map<string, string>>;
  remove(): Promise<void>;
}

export async function openWorkplace(): Promise<Workplace> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-test-'));
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  return {
    folder,
    async write(name, lines) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), `${lines.join('\n')}\n`);
    },
    async lines(name) {
      const text = await read(name).catch(() => '');
      return text
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
    },
    json: async (name) => JSON.parse(await read(name)) as Record<string, unknown>,
    async everything(name) {
      const entries = await readdir(join(folder, name), { recursive: true, withFileTypes: true });
      const files = entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      return new Map(
        await Promise.all(files.map(async (file) => [file, await readFile(file, 'latin1')] as const)),
      );
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
