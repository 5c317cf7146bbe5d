import { readStatus, type RunStatus } from '../../batch/index.js';
import type { CliIo, CommandCall } from '../io/cli-io.js';
import { commandOptions } from '../options/parse-options.js';
import { runFolder } from '../options/run-folder.js';
import type { RemoteStatus } from '../../distributed/remote-status.js';
import { nodeDisk } from '../../batch/formats.js';
import { lastLiveState, readLiveState, type LiveState } from '../../report/watch/live-state.js';
import { remoteText, statusText } from '../messages/status-text.js';
import { shownPath } from '../messages/plain-text.js';
import { commandOfRun } from '../plan/command-of-run.js';
import { databaseOfFolder, whatIsLeft } from '../start/what-is-left.js';

/** Prints the state of a running or finished run, from its files and its database. Changes nothing. Exit 0. */
export async function statusCommand({ args: [name], raw, io }: CommandCall<[string]>): Promise<number> {
  const { db, json, costBy } = commandOptions('status', raw);
  const folder = await runFolder(name, io);
  const found = await withRows(folder, await readStatus(folder, costBy == null ? {} : { costBy }));
  const remote = await remoteOf(folder, db, io);
  const text = json
    ? JSON.stringify(remote === undefined ? found : { ...found, distributed: remote })
    : [
        ...statusText(found, shownPath(folder, io.cwd), Date.now(), await liveState(folder, found)),
        ...(remote === undefined ? [] : remoteText(remote, Date.now())),
        ...(await leftOf(folder, found, io)),
      ].join('\n');
  io.stdout.write(`${text}\n`);
  return 0;
}

/** If a start was killed before its first summary, the number of rows is only in its file for the live page. */
async function withRows(folder: string, found: RunStatus): Promise<RunStatus> {
  const { summary, rows } = found;
  const planned = summary === undefined ? (await lastLiveState(nodeDisk, folder))?.rows : undefined;
  if (planned === undefined || planned <= rows.total) return found;
  return { ...found, rows: { ...rows, total: planned, toDo: planned - rows.completed - rows.failed } };
}

async function liveState(folder: string, { isRunning }: RunStatus): Promise<LiveState | undefined> {
  return isRunning ? readLiveState(nodeDisk, folder, Date.now()) : undefined;
}

/** What a person can do about a run that no process runs. */
async function leftOf(folder: string, found: RunStatus, io: Pick<CliIo, 'cwd'>): Promise<string[]> {
  const { isRunning, rows, cost, summary, exitCode } = found;
  if (isRunning || rows.failed + rows.toDo + cost.possiblyDouble === 0) return [];
  const command = await commandOfRun(folder, io);
  return command === undefined ? [] : whatIsLeft(folder, { ...summary, rows, cost }, command, exitCode);
}

async function remoteOf(
  folder: string,
  db: string | undefined,
  { env }: CliIo,
): Promise<RemoteStatus | undefined> {
  const database = await databaseOfFolder(folder, db);
  if (database === undefined) return undefined;
  const { remoteStatus } = await import('../../distributed/remote-status.js');
  return remoteStatus(database, env);
}
