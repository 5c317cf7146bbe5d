import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import { isObject, readJsonl, type JsonObject } from '../read/read-jsonl.js';
import { numberOr } from './number-or.js';
import { recordKind } from './record-kind.js';

/** What the journal tells of the run as a whole. Times in ms since the epoch. */
export interface RunStory {
  readonly starts: readonly RunStart[];
  /** The end of each start that came to one; fewer than starts while a run goes or after a crash. */
  readonly stops: readonly { at: number; exitCode: number }[];
  /** How many jobs ended with so many status calls. */
  readonly statusCalls: ReadonlyMap<number, number>;
}

export interface RunStart {
  readonly at: number;
  readonly manifest: string;
  readonly baseUrl: string;
  readonly local: boolean;
  /** USD, as `--max-cost` gave it. */
  readonly maxCost?: number;
}

/** The records that are most of the journal and tell nothing here are not even parsed. */
const told = new Set([undefined, 'start', 'stop', 'outcome']);

export async function readStory(disk: Disk, folder: string): Promise<RunStory> {
  const starts: RunStart[] = [];
  const stops: { at: number; exitCode: number }[] = [];
  const statusCalls = new Map<number, number>();
  const wanted = (line: Buffer): boolean => told.has(recordKind(line));
  for await (const { value } of readJsonl(disk, join(folder, 'journal.jsonl'), () => undefined, wanted)) {
    if (value['k'] === 'outcome') {
      const calls = numberOr(value['statusCalls'], 0);
      statusCalls.set(calls, (statusCalls.get(calls) ?? 0) + 1);
    }
    if (value['k'] === 'start') starts.push(startOf(value));
    if (value['k'] === 'stop')
      stops.push({ at: numberOr(value['at'], 0), exitCode: numberOr(value['exitCode'], 0) });
  }
  return { starts, stops, statusCalls };
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
    ...(typeof maxCost === 'number' ? { maxCost } : {}),
  };
}
