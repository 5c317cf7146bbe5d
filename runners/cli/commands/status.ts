import { readStatus } from '../../batch/read-status.js';
import type { CliIo } from '../io/cli-io.js';
import { runFolder } from '../options/run-folder.js';
import { shownPath } from '../words/shown-path.js';
import { statusText } from '../words/status-text.js';

/** Tells where a running or a finished run stands, out of its files. Changes nothing. Exit 0. */
export async function status(name: string, raw: { readonly json?: boolean }, io: CliIo): Promise<number> {
  const folder = await runFolder(name, io);
  const found = await readStatus(folder);
  const text =
    raw.json === true
      ? JSON.stringify(found)
      : statusText(found, shownPath(folder, io.cwd), Date.now()).join('\n');
  io.stdout.write(`${text}\n`);
  return 0;
}
