import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readStatus } from '../../batch/index.js';
import type { CliIo } from '../io/cli-io.js';
import { commandOptions } from '../options/parse-options.js';
import { runFolder } from '../options/run-folder.js';
import type { RemoteStatus } from '../../distributed/remote-status.js';
import { remoteText, statusText } from '../messages/status-text.js';
import { shownPath } from '../messages/plain-text.js';

/** Tells where a running or a finished run stands, out of its files and its database. Changes nothing. Exit 0. */
export async function statusCommand(
  name: string,
  raw: Readonly<Record<string, unknown>>,
  io: CliIo,
): Promise<number> {
  const { db, json } = commandOptions('status', raw);
  const folder = await runFolder(name, io);
  const found = await readStatus(folder);
  const remote = await remoteOf(folder, db, io);
  const text = json
    ? JSON.stringify(remote === undefined ? found : { ...found, distributed: remote })
    : [
        ...statusText(found, shownPath(folder, io.cwd), Date.now()),
        ...(remote === undefined ? [] : remoteText(remote, Date.now())),
      ].join('\n');
  io.stdout.write(`${text}\n`);
  return 0;
}

/** A run without a database loads nothing of it. */
async function remoteOf(
  folder: string,
  db: string | undefined,
  { env }: CliIo,
): Promise<RemoteStatus | undefined> {
  if (!existsSync(join(folder, 'distributed.json'))) return undefined;
  const { databaseOfRun } = await import('../../distributed/collector/run-note.js');
  const { remoteStatus } = await import('../../distributed/remote-status.js');
  const database = await databaseOfRun(folder, db);
  return database === undefined ? undefined : remoteStatus(database, env);
}
