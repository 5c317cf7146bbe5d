import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import { isObject, type JsonObject, numberOr } from '../read/json-object.js';
import { objectsWith, readJsonl } from '../read/read-jsonl.js';
import type { StartFacts } from '../messages/run-again.js';

/** What the journal tells of the run as a whole. Times in ms since the epoch. */
export interface RunStory {
  readonly starts: readonly RunStart[];
  /** The end of each start that came to one; fewer than starts while a run goes or after a crash. */
  readonly stops: readonly { at: number; exitCode: number }[];
}

export interface RunStart extends StartFacts {
  readonly at: number;
  /** Names of the columns that multiplied its rows. */
  readonly axes: readonly string[];
}

/** Nothing else is parsed: most of the journal tells nothing here. */
const startOrStop = Buffer.from('"k":"st');
const intent = Buffer.from('"k":"intent"');

export async function readStory(disk: Disk, folder: string): Promise<RunStory> {
  const starts: NotedStart[] = [];
  const stops: { at: number; exitCode: number }[] = [];
  let sentWith: string[] | undefined;
  const texts = (): Buffer[] => (sentWith === undefined ? [startOrStop, intent] : [startOrStop]);
  for await (const value of objectsWith(disk, join(folder, 'journal.jsonl'), texts)) {
    if (value['k'] === 'start') starts.push(startOf(value));
    if (value['k'] === 'intent') sentWith ??= optionsOfIntent(value);
    if (value['k'] === 'stop')
      stops.push({ at: numberOr(value['at'], 0), exitCode: numberOr(value['exitCode'], 0) });
  }
  return { starts: starts.map((start) => startWith(start, sentWith ?? [])), stops };
}

/** The run's first start: the journal begins with it, or with the cap that it sets. */
export async function readFirstStart(disk: Disk, folder: string): Promise<RunStart | undefined> {
  let sentWith: string[] | undefined;
  let first: NotedStart | undefined;
  for await (const { value } of readJsonl(disk, join(folder, 'journal.jsonl'), () => undefined)) {
    if (value['k'] === 'start') first ??= startOf(value);
    if (value['k'] === 'intent') sentWith = optionsOfIntent(value);
    if (first?.repeat !== undefined || sentWith !== undefined) break;
  }
  return first === undefined ? undefined : startWith(first, sentWith ?? []);
}

/** `repeat` is absent in folders of 0.1.0. */
type NotedStart = Omit<RunStart, 'repeat'> & { readonly repeat: RunStart['repeat'] | undefined };

/** @param sentWith what the first sent row had from the options, for a start that did not note them */
function startWith({ repeat, ...start }: NotedStart, sentWith: readonly string[]): RunStart {
  return { ...start, repeat: repeat ?? { manifest: [], others: sentWith } };
}

function startOf(record: JsonObject): NotedStart {
  const settings = isObject(record['settings']) ? record['settings'] : {};
  const identity = isObject(record['identity']) ? record['identity'] : {};
  const maxCost = settings['maxCostUsd'] ?? settings['maxCost'];
  return {
    at: numberOr(record['at'], 0),
    manifest: typeof record['manifest'] === 'string' ? record['manifest'] : '',
    baseUrl: typeof identity['baseUrl'] === 'string' ? identity['baseUrl'] : '',
    lbBaseUrl: typeof identity['lbBaseUrl'] === 'string' ? identity['lbBaseUrl'] : '',
    local: identity['local'] === true,
    repeat: repeatOf(settings['repeat']),
    axes: axisNames(settings['axes']),
    // A cap of the configuration is found there again.
    maxCost: typeof maxCost === 'number' && settings['defaultMaxCostUsd'] === undefined ? maxCost : undefined,
    ...(typeof maxCost === 'number' ? { cap: maxCost } : {}),
  };
}

function repeatOf(noted: unknown): RunStart['repeat'] | undefined {
  if (!isObject(noted)) return undefined;
  const { manifest, others } = noted;
  return isWords(manifest) && isWords(others) ? { manifest, others } : undefined;
}

function axisNames(noted: unknown): string[] {
  const axes: unknown[] = Array.isArray(noted) ? noted : [];
  return axes.flatMap((axis) => (isObject(axis) && typeof axis['name'] === 'string' ? [axis['name']] : []));
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}

/** The endpoint and the mode, where the row does not name the one and the other is not the default of its kind. */
function optionsOfIntent(intent: JsonObject): string[] {
  const { kind, mode, endpoint } = intent;
  const cells = isObject(intent['cells']) ? intent['cells'] : {};
  const isDefault = typeof mode !== 'string' || mode === (kind === 'edit' ? 'sync' : 'async');
  const isNamed = typeof cells['endpoint'] === 'string' && cells['endpoint'] !== '';
  return [
    ...(typeof endpoint === 'string' && endpoint !== '' && !isNamed ? ['--endpoint', endpoint] : []),
    ...(isDefault || kind === 'route' ? [] : ['--mode', mode]),
  ];
}
