import { lastValueFrom, tap } from 'rxjs';
import { refetch } from '../../batch/index.js';
import type { RunEvent } from '../../batch/internal.js';
import type { CliIo, CommandCall } from '../io/cli-io.js';
import { listenForStop } from '../io/listen-for-stop.js';
import { trackConnections } from '../io/track-connections.js';
import { commandOptions } from '../options/parse-options.js';
import { runFolder } from '../options/run-folder.js';
import { countOf, plainText } from '../messages/plain-text.js';

/** The most warnings that are printed: where the URLs have expired, there is one for each picture. */
const warningsShown = 20;

/** Downloads paid pictures of a run that are missing. Buys nothing, and needs no key. */
export async function refetchCommand({
  args: [name],
  raw,
  io,
  fault,
}: CommandCall<[string]>): Promise<number> {
  const { quiet, json, ...limits } = commandOptions('refetch', raw);
  const folder = await runFolder(name, io);
  fault.folder = folder;
  const connections = trackConnections();
  const stop = listenForStop(io);
  try {
    const events$ = refetch(folder, { ...limits, stop: stop.orders$ });
    let warnings = 0;
    const warn = (event: RunEvent): void => {
      if (event.type === 'warning' && ++warnings <= warningsShown)
        io.stderr.write(`warning: ${plainText(event.message)}\n`);
    };
    const last = await lastValueFrom(events$.pipe(tap(warn)));
    const left = warnings - warningsShown;
    if (left > 0) io.stderr.write(`… and ${countOf(left, 'more warning')} like these\n`);
    if (last.type !== 'finished') throw new Error('the downloads ended without a result');
    return printEnd(last, { quiet, json }, io, stop.exitCode());
  } finally {
    stop.close();
    connections.letGo();
  }
}

function printEnd(
  { exitCode, reason, summary }: Extract<RunEvent, { type: 'finished' }>,
  { quiet, json }: { quiet: boolean; json: boolean },
  io: CliIo,
  interrupted: number | undefined,
): number {
  const isRefused = exitCode > 1;
  if (json && summary !== undefined) io.stdout.write(`${JSON.stringify(summary)}\n`);
  if (isRefused) io.stderr.write(`error: ${plainText(reason, 2000)}\n`);
  else if (!quiet) (json ? io.stderr : io.stdout).write(`${plainText(reason, 2000)}\n`);
  return isRefused ? exitCode : (interrupted ?? exitCode);
}
