import { z } from 'zod';
import { startEmulator } from '../../emulator/start-emulator.js';
import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { emulatorFlags } from '../options/emulator-flags.js';
import { emulatorSettings } from '../options/emulator-settings.js';
import { optionValue } from '../options/option-value.js';
import { parseOptions } from '../options/parse-options.js';

const serveOptionsSchema = z.object({
  port: optionValue.wholeNumber(0, 65_535).default(0),
  key: z.string().min(1, 'is empty').optional(),
  ...emulatorFlags,
});

/** The emulator on a port, until SIGINT or SIGTERM. Says where it listens by one JSON line on stdout. Exit 0. */
export async function serve(raw: Readonly<Record<string, unknown>>, io: CliIo): Promise<number> {
  const { port, key, ...flags } = parseOptions(serveOptionsSchema, raw);
  const settings = await emulatorSettings(flags, io.cwd);
  const emulator = await startEmulator({ ...settings, port, key }).catch((error: unknown) =>
    explainPort(error, port),
  );
  const { baseUrl, lbBaseUrl, apiKey } = emulator;
  const stopped = stopSignal(io);
  io.stdout.write(`${JSON.stringify({ baseUrl, lbBaseUrl, apiKey })}\n`);
  await stopped;
  await emulator.close();
  return 0;
}

/** Resolves at the first signal; a second one then ends the process as it always does. */
function stopSignal(io: CliIo): Promise<void> {
  return new Promise((resolve) => {
    const ignore = io.onStop(() => {
      ignore();
      resolve();
    });
  });
}

function explainPort(error: unknown, port: number): never {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    throw new UsageError([`--port: ${port} is in use: choose another one, or leave it out for any free one`]);
  if (code === 'EACCES')
    throw new UsageError([`--port: ${port} is not for this user: choose one above 1023`]);
  throw error;
}
