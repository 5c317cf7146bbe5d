import { parseArgs } from 'node:util';
import { startStudio } from './start-studio.js';

const { values } = parseArgs({ options: { port: { type: 'string' }, cap: { type: 'string' } } });
const { port = '0', cap = '2' } = values;
const studio = await startStudio({ port: Number(port), capUsd: Number(cap) });
console.log(
  `The studio is open at ${studio.url} (Ctrl-C closes it). Nothing is bought: the service is the emulator.`,
);

const close = (): void => void studio.close();
process.once('SIGINT', close).once('SIGTERM', close);
