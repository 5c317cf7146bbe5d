import { lastValueFrom } from 'rxjs';
import { filesFolder, openFilesFolder } from '../artifacts/artifact-name.js';
import { outputPaths, pathsInForce, type OutputPath } from '../artifacts/output-path.js';
import type { JournalWriter } from '../context/journal-writer.js';
import type { ResolvedOptions } from '../context/resolved-options.js';
import type { Recovered, RowRecords } from '../journal/journal.js';
import { wantedOutputs } from '../pictures/wanted-outputs.js';
import { asSelected } from '../row/left-rows.js';

/** A test for completed rows that have files which the run was not asked to save before; `undefined` if no row can have any. */
export function rowsForFiles(
  options: Pick<ResolvedOptions, 'saveOutput' | 'download' | 'only'>,
  recovered: Pick<Recovered, 'saveOutput'>,
): ((row: RowRecords) => boolean) | undefined {
  const asked = pathsInForce(options, recovered);
  if (!options.download || asked.every((path) => recovered.saveOutput.includes(path))) return undefined;
  const paths = outputPaths(asked);
  return (row) => {
    const { intent, reply, outcome } = row;
    if (intent === undefined || reply === undefined || options.only?.has(asSelected(row)) === false)
      return false;
    const { files } = wantedOutputs(reply, { request: intent.request, paths, saved: outcome });
    return files.some(({ found }) => found !== undefined);
  };
}

/**
 * Records in the journal which files are saved from now on, and warns how many ended rows were reopened for them. Call it after
 * these rows are reopened: a start that dies before that has then changed nothing.
 */
export async function openFilesAsked(
  options: ResolvedOptions,
  journal: JournalWriter,
  { rows, warn }: { readonly rows: number; readonly warn: (message: string) => void },
): Promise<readonly OutputPath[]> {
  const { recovered } = journal.journal;
  const paths = pathsInForce(options, recovered);
  if (paths.length > 0) await openFilesFolder(options.disk, options.out, filesFolder);
  if (JSON.stringify(pathsInForce(options, recovered)) !== JSON.stringify(recovered.saveOutput))
    await lastValueFrom(journal.append({ k: 'save-output', at: options.scheduler.now(), paths }));
  if (rows > 0) warn(forFilesText(rows, paths));
  return outputPaths(paths);
}

function forFilesText(rows: number, paths: readonly string[]): string {
  const have = rows === 1 ? 'completed row has' : 'completed rows have';
  const named = paths.join(', ');
  return `${rows} ${have} files that were not asked for before (${named}): these are downloaded while their URLs are valid, and nothing is bought.`;
}
