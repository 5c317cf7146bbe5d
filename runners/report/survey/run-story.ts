import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import { isObject, type JsonObject, numberOr, readJsonl } from '../read/read-jsonl.js';
import { recordKind } from '../read/record-kind.js';

/** What the journal tells of the run as a whole. Times in ms since the epoch. */
export interface RunStory {
  readonly starts: readonly RunStart[];
  /** The end of each start that came to one; fewer than starts while a run goes or after a crash. */
  readonly stops: readonly { at: number; exitCode: number }[];
  /** How many jobs ended with so many status calls. */
  readonly statusCalls: ReadonlyMap<number, number>;
  /** A later start goes by a cap, or by its lifting, without being given one. */
  readonly remembersCap: boolean;
}

export interface RunStart {
  readonly at: number;
  readonly manifest: string;
  readonly baseUrl: string;
  readonly local: boolean;
  /** USD: the cap that held for it. */
  readonly maxCost?: number;
  /** The configuration had one for it. */
  readonly hasConfiguredCap: boolean;
}

/** Nothing else is parsed: most of the journal tells nothing here. */
const parsed = new Set([undefined, 'start', 'stop', 'cap']);

export async function readStory(disk: Disk, folder: string): Promise<RunStory> {
  const starts: RunStart[] = [];
  const stops: { at: number; exitCode: number }[] = [];
  const statusCalls = new Map<number, number>();
  let remembersCap = false;
  const wanted = (line: Buffer): boolean => {
    const kind = recordKind(line);
    if (kind === 'outcome') countCalls(line, statusCalls);
    return parsed.has(kind);
  };
  for await (const { value } of readJsonl(disk, join(folder, 'journal.jsonl'), () => undefined, wanted)) {
    if (value['k'] === 'start') starts.push(startOf(value));
    if (value['k'] === 'cap') remembersCap = true;
    if (value['k'] === 'stop')
      stops.push({ at: numberOr(value['at'], 0), exitCode: numberOr(value['exitCode'], 0) });
  }
  return { starts, stops, statusCalls, remembersCap };
}

const callsKey = Buffer.from('"statusCalls":');
/** No count of calls has more digits. */
const mostDigits = 12;

/** The first place that looks like the field is the field: quotes inside a text have a backslash before them. */
function countCalls(outcome: Buffer, statusCalls: Map<number, number>): void {
  const at = outcome.indexOf(callsKey);
  const start = at + callsKey.length;
  const calls = at < 0 ? 0 : Number.parseInt(outcome.toString('latin1', start, start + mostDigits), 10) || 0;
  statusCalls.set(calls, (statusCalls.get(calls) ?? 0) + 1);
}

function startOf(record: JsonObject): RunStart {
  const settings = isObject(record['settings']) ? record['settings'] : {};
  const identity = isObject(record['identity']) ? record['identity'] : {};
  const maxCost = settings['maxCostUsd'] ?? settings['maxCost'];
  return {
    at: numberOr(record['at'], 0),
    manifest: typeof record['manifest'] === 'string' ? record['manifest'] : '',
    baseUrl: typeof identity['baseUrl'] === 'string' ? identity['baseUrl'] : '',
    local: identity['local'] === true,
    hasConfiguredCap: settings['defaultMaxCostUsd'] !== undefined,
    ...(typeof maxCost === 'number' ? { maxCost } : {}),
  };
}
