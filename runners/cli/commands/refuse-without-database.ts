import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../io/usage-error.js';

/** A run that has rows in a database is not gone on with beside it: they would be bought twice. Throws `UsageError`. */
export async function refuseWithoutDatabase(out: string): Promise<void> {
  const text = await readFile(join(out, 'distributed.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const { readRunNote } = await import('../../distributed/collector/run-note.js');
  const { nodeDisk } = await import('../../batch/disk/node-disk.js');
  const note = await readRunNote(nodeDisk, out);
  if (note?.isOpen !== true) return;
  throw new UsageError(
    [
      `the run in ${out} has rows in a database (${note.database}) that may be on their way: nothing was sent`,
    ],
    'go on with --db and that database; once all of its rows have ended it can be gone on with either way',
  );
}
