import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { checkApiKey } from '../../../src/contract/request-parts.js';
import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';

/** The API key, and a warning about its file. No message contains the key. */
export interface ApiKey {
  readonly key: string;
  readonly warning?: string;
}

/**
 * The key from `--api-key-file`, else from MILLRACE_API_KEY. Throws `UsageError` when there is none, the file cannot be
 * read, or it is no key at all. (spec 5)
 */
export async function readApiKey(file: string | undefined, io: Pick<CliIo, 'env' | 'cwd'>): Promise<ApiKey> {
  if (file !== undefined) return readKeyFile(file, resolve(io.cwd, file));
  const key = (io.env['MILLRACE_API_KEY'] ?? '').trim();
  if (key !== '') return { key: checked(key, 'MILLRACE_API_KEY') };
  throw new UsageError(
    ['there is no API key: MILLRACE_API_KEY is not set'],
    'set MILLRACE_API_KEY, name a file with --api-key-file, or rehearse with --local, which needs none',
  );
}

async function readKeyFile(name: string, path: string): Promise<ApiKey> {
  try {
    const key = (await readFile(path, 'utf8')).trim();
    if (key === '') throw new UsageError([`--api-key-file: "${name}" is empty`]);
    const { mode } = await stat(path);
    const open = process.platform !== 'win32' && (mode & 0o077) !== 0;
    return {
      key: checked(key, `--api-key-file: "${name}"`),
      ...(open && { warning: `the key file "${name}" can be read by others: chmod 600 "${name}"` }),
    };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError([
      `--api-key-file: "${name}" cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`,
    ]);
  }
}

/** Refuses what cannot be a key, such as a file of several lines. The problem never quotes it. */
function checked(key: string, source: string): string {
  const problem = checkApiKey(key);
  if (problem === undefined) return key;
  throw new UsageError([`${source} holds no key: it ${problem}`]);
}
