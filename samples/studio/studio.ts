import { parseArgs } from 'node:util';
import { startStudio, type StudioOptions } from './start-studio.js';

const usage = 'usage: node dist/samples/studio/studio.js [--port N] [--cap USD]';

function readOptions(): StudioOptions {
  const { values } = parseArgs({ options: { port: { type: 'string' }, cap: { type: 'string' } } });
  const { port = '0', cap = '2' } = values;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new Error(`--port takes a port, not ${port}`);
  if (!/^\d+(\.\d+)?$/.test(cap)) throw new Error(`--cap takes US dollars, not ${cap}`);
  return { port: Number(port), capUsd: Number(cap) };
}

try {
  const studio = await startStudio(readOptions());
  console.log(
    `The studio is open at ${studio.url} (Ctrl-C closes it). Nothing is bought: the service is the emulator.`,
  );
  const close = (): void => void studio.close();
  process.once('SIGINT', close).once('SIGTERM', close);
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  process.exitCode = 2;
}
