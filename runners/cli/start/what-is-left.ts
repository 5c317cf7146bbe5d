import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { nodeDisk } from '../../batch/formats.js';
import type { Summary } from '../../batch/internal.js';
import { forRowsToGo, runAgain, type RunCommand } from '../../report/messages/run-again.js';
import { toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { DatabaseOfRun } from '../../distributed/collector/run-note.js';
import type { CliIo } from '../io/cli-io.js';
import { earlierAttemptsText, failureText, toGoText } from '../messages/outcome-text.js';
import { commandOfRun } from '../plan/command-of-run.js';

/**
 * What a person still has to do: failures of all starts by cause, money of earlier attempts, and rows to go, each with a
 * command.
 *
 * @param exitCode how the last start ended; `undefined` if it was cut off
 */
export async function whatIsLeft(
  folder: string,
  {
    rows,
    cost,
    prices,
    priceTable,
    thisStart,
  }: Pick<Summary, 'rows'> & { readonly cost: Pick<Summary['cost'], 'possiblyDouble'> } & Partial<
      Pick<Summary, 'prices' | 'priceTable' | 'thisStart'>
    >,
  command: RunCommand,
  exitCode: number | undefined,
): Promise<string[]> {
  const { failureGroups } = await import('../../report/survey/survey-rows.js');
  const { laterManifestAt, readStory } = await import('../../report/survey/run-story.js');
  const manifestAt = command.others && laterManifestAt((await readStory(nodeDisk, folder)).starts);
  const known = Object.entries({ ...prices, ...priceTable?.reported });
  const micros: Record<string, MicroDollars> = Object.fromEntries(
    known.map(([resolution, usd]) => [resolution, toMicroDollars(usd)]),
  );
  return [
    ...failureText(await failureGroups(nodeDisk, folder, manifestAt ?? (() => undefined)), command, micros),
    ...earlierAttemptsText(cost.possiblyDouble, command),
    ...toGoText(rows.toDo, command, { ...thisStart, exitCode }),
  ];
}

/**
 * The command for rows that are to be polled or sent after a settlement. If the first and the last start had different
 * manifests, both are named, because a row may be in either.
 */
export async function goOnText(folder: string, io: Pick<CliIo, 'cwd'>): Promise<string[]> {
  const command = await commandOfRun(folder, io);
  const ways = command && (command.latest === undefined ? [command] : [command, forRowsToGo(command)]);
  return (ways ?? []).flatMap((way) => {
    const again = runAgain(way);
    return again === undefined ? [] : [`Go on: ${again}`];
  });
}

/** The database that a run's folder names. Without one, no code for databases is loaded. */
export async function databaseOfFolder(
  folder: string,
  db: string | undefined,
): Promise<DatabaseOfRun | undefined> {
  if (!existsSync(join(folder, 'distributed.json'))) return undefined;
  const { databaseOfRun } = await import('../../distributed/collector/run-note.js');
  return databaseOfRun(folder, db);
}
