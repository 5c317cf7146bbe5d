import { startEmulator } from '../../emulator/start-emulator.js';
import type { CommandCall } from '../io/cli-io.js';
import { explainPort } from '../io/explain-error.js';
import { untilStopped } from '../io/listen-for-stop.js';
import { emulatorSettings } from '../service/start-rehearsal.js';
import { commandOptions } from '../options/parse-options.js';

/** Runs the emulator on a port, until SIGINT or SIGTERM. Prints its address as one JSON line on stdout. Exit 0. */
export async function serveCommand({ raw, io }: CommandCall): Promise<number> {
  const { port = 0, key, ...flags } = commandOptions('serve', raw);
  const settings = await emulatorSettings(flags, io.cwd);
  const emulator = await startEmulator({ ...settings, port, key }).catch((error: unknown) =>
    explainPort(error, port),
  );
  const { baseUrl, lbBaseUrl, apiKey } = emulator;
  const stopped = untilStopped(io);
  io.stdout.write(`${JSON.stringify({ baseUrl, lbBaseUrl, apiKey })}\n`);
  await stopped;
  await emulator.close();
  return 0;
}
