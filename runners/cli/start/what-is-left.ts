import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { nodeDisk } from '../../batch/formats.js';
import { peekJournal, type Summary } from '../../batch/internal.js';
import { forEarlierRows, forRowsToGo, runAgain, type RunCommand } from '../../report/messages/run-again.js';
import { reservedPrices, type EditPrices } from '../../report/messages/edit-prices.js';
import { ofEarlierManifest } from '../../report/messages/what-to-do.js';
import type { ManifestAt } from '../../report/survey/run-story.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
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
  const manifestAt = command.others && (await manifestsOf(folder));
  const known = reservedPrices(inMicros(prices), inMicros(priceTable?.reported));
  return [
    ...failureText(
      await failureGroups(nodeDisk, folder, manifestAt ?? (() => undefined)),
      command,
      known,
      rows.toDo,
    ),
    ...earlierAttemptsText(cost.possiblyDouble, command),
    ...toGoText(rows.toDo, command, { ...thisStart, exitCode }),
    ...(manifestAt === undefined ? [] : await earlierToGoText(folder, command, manifestAt)),
  ];
}

function inMicros(prices: Readonly<Record<string, number>> = {}): EditPrices {
  return Object.fromEntries(Object.entries(prices).map(([label, usd]) => [label, toMicroDollars(usd)]));
}

/** Rows that were sent with an earlier manifest, and wait to be sent again: a start with the last one does not know them. */
async function earlierToGoText(
  folder: string,
  command: RunCommand,
  manifestAt: ManifestAt,
): Promise<string[]> {
  const { earlierRowsToGo } = await import('../../report/survey/rows-to-go.js');
  return (await earlierRowsToGo(nodeDisk, folder, manifestAt)).flatMap(({ manifest, rows }) =>
    toGoText(rows, forEarlierRows(command, manifest), {}, ofEarlierManifest),
  );
}

/** The commands for rows that are to be polled or sent after a settlement: one for each manifest that the rows were sent with. */
export async function goOnText(
  folder: string,
  ids: readonly string[],
  io: Pick<CliIo, 'cwd'>,
): Promise<string[]> {
  const command = await commandOfRun(folder, io);
  if (command === undefined) return [];
  return (await commandsForRows(folder, command, ids)).flatMap((one) => {
    const again = runAgain(one);
    return again === undefined ? [] : [`Go on: ${again}`];
  });
}

/** Reads from the journal which manifest was in force when. */
async function manifestsOf(folder: string): Promise<ManifestAt> {
  const { laterManifestAt, readStory } = await import('../../report/survey/run-story.js');
  return laterManifestAt((await readStory(nodeDisk, folder)).starts);
}

/** A command for each manifest that the rows with these ids were sent with, in their order. Rows of an unknown time count as of the last one. */
export async function commandsForRows(
  folder: string,
  command: RunCommand,
  ids: readonly string[],
): Promise<RunCommand[]> {
  const { rowsByManifest } = await import('../../report/survey/rows-to-go.js');
  const rows = (await peekJournal(nodeDisk, folder))?.findAll(ids) ?? [];
  const manifestAt = await manifestsOf(folder);
  const latest = manifestAt(Infinity);
  return (await rowsByManifest(rows, manifestAt)).map(({ manifest }) =>
    manifest === latest ? forRowsToGo(command) : forEarlierRows(command, manifest),
  );
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
