import { lastValueFrom, tap } from 'rxjs';
import { refetch } from '../../batch/index.js';
import type { RunEvent } from '../../batch/internal.js';
import type { CliIo, CommandCall } from '../io/cli-io.js';
import { listenForStop } from '../io/listen-for-stop.js';
import { trackConnections } from '../io/track-connections.js';
import { commandOptions } from '../options/parse-options.js';
import { runFolder } from '../options/run-folder.js';
import { plainText } from '../messages/plain-text.js';

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
    const last = await lastValueFrom(events$.pipe(tap((event) => warn(event, io))));
    if (last.type !== 'finished') throw new Error('the downloads ended without a result');
    return printEnd(last, { quiet, json }, io, stop.exitCode());
  } finally {
    stop.close();
    connections.letGo();
  }
}

function warn(event: RunEvent, io: CliIo): void {
  if (event.type === 'warning') io.stderr.write(`warning: ${plainText(event.message)}\n`);
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
