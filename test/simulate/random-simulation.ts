import type { DiskFault } from '../support/forgetful-disk.js';
import { seeded } from '../support/seeded.js';
import { pickFrom } from './broken-replies.js';
import { randomCalls } from './callbacks.js';
import { type Meddling, meddlings } from './meddling.js';
import { playedReplies, randomIllness, type StrangeReply } from './strange-replies.js';
import { fairWeather, type Weather } from './weather.js';
import { randomValueCaps } from './value-caps.js';
import type { Fate, Simulation } from './simulate-run.js';

const mostRows = 12;

/** A run and what befalls it, by the seed alone. */
export function randomSimulation(seed: number): Simulation {
  const random = seeded(seed * 2 + 1);
  const chance = (probability: number): boolean => random() < probability;
  const capUsd = chance(0.25) ? 0.2 + random() * 0.6 : undefined;
  const starts = Math.floor(random() * 4);
  const valueCaps = randomValueCaps(seed, starts);
  return {
    seed,
    rows: 1 + Math.floor(random() * mostRows),
    format: chance(0.3) ? 'csv' : 'jsonl',
    fates: valueCaps.map((cap) => withValueCap(randomFate(random, capUsd), cap)),
    options: {
      concurrency: 1 + Math.floor(random() * 8),
      downloads: 1 + Math.floor(random() * 3),
      retries: Math.floor(random() * 5),
      ...(chance(0.15) && { onUnknown: 'retry' as const }),
      ...(chance(0.2) && { retry: ['failed', 'download', 'deadline'] }),
    },
  };
}

function withValueCap(fate: Fate, cap: number | undefined): Fate {
  return cap === undefined
    ? fate
    : { ...fate, options: { ...fate.options, maxCostByUsd: { customer: cap } } };
}

/** Kinds of what may befall a run besides. */
export interface StrangeKinds {
  readonly replies: readonly StrangeReply[];
  readonly meddlings: readonly Meddling[];
}

const playedKinds: StrangeKinds = { replies: playedReplies, meddlings };

/** The same run, with strange replies of these kinds in most of its starts, and somebody who meddles with its files in some. */
export function strangeSimulation(seed: number, kinds: StrangeKinds = playedKinds): Simulation {
  const simulation = randomSimulation(seed);
  const random = seeded(seed + 0.25);
  const fates = simulation.fates.length > 0 ? simulation.fates : [{}];
  const strangeFates = fates.map((fate) => ({
    ...fate,
    weather: strange(random, kinds.replies, fate),
    ...(kinds.meddlings.length > 0 && random() < 0.4 && { meddling: meddling(random, kinds.meddlings) }),
  }));
  return { ...simulation, fates: strangeFates, wide: random() < 0.1 };
}

/** The same run with most rows at /run, of a service that calls back: late, twice, never, before its answers, and with forged calls between. */
export function calledSimulation(seed: number): Simulation {
  const simulation =
    seed % 2 === 0
      ? randomSimulation(seed)
      : strangeSimulation(seed, { replies: playedReplies, meddlings: [] });
  const random = seeded(seed + 0.125);
  const fates = simulation.fates.map((fate) => ({
    ...fate,
    weather: { ...(fate.weather ?? fairWeather), calls: randomCalls(random) },
  }));
  return { ...simulation, fates, called: true };
}

function meddling(random: () => number, kinds: readonly Meddling[]): NonNullable<Fate['meddling']> {
  return { what: pickFrom(kinds, random), fromCall: 1 + Math.floor(random() ** 3 * 300) };
}

function strange(random: () => number, kinds: readonly StrangeReply[], { weather }: Fate): Weather {
  const chosen = kinds.filter((kind) => kind !== 'ill' && random() < 1 / Math.min(kinds.length, 3));
  const chances = chosen.map((kind) => [kind, random() ** 2] as const);
  return {
    ...(weather ?? fairWeather),
    strange: Object.fromEntries(chances),
    ...(kinds.includes('ill') && random() < 0.5 && { illness: randomIllness(random) }),
  };
}

function randomFate(random: () => number, capUsd: number | undefined): Fate {
  const chance = (probability: number): boolean => random() < probability;
  return {
    ...(chance(0.6) && { diesAtCall: 1 + Math.floor(random() ** 2 * 500) }),
    powerCut: chance(0.7),
    ...(chance(0.15) && { diskFaults: [randomFault(random)] }),
    ...(chance(0.2) && { stops: randomStops(random) }),
    ...(chance(0.7) && { weather: randomWeather(random) }),
    diskMs: chance(0.6) ? random() * 30 : 0,
    pauseMs: 10 ** (random() * 7),
    options: {
      ...(capUsd !== undefined && { maxCostUsd: capUsd }),
      ...(chance(0.3) && { timeoutMs: 1_000 + random() * 60_000 }),
      ...(chance(0.2) && { runsyncTimeoutMs: 200 + random() * 5_000 }),
      ...(chance(0.15) && { limit: 1 + Math.floor(random() * 6) }),
      ...(chance(0.1) && { halt: { count: 1 + Math.floor(random() * 3) } }),
      ...(chance(0.1) && { download: false }),
      ...(chance(0.1) && { rate: 1 + random() * 20 }),
    },
  };
}

const files = [
  'journal.jsonl',
  'results.jsonl',
  'failures.jsonl',
  'costs.csv',
  'summary.json',
  'images/',
  'run.log',
  'out',
  'results.csv',
];
const calls = ['open', 'write', 'sync', 'rename', 'syncFolder', 'truncate', 'stat', 'read', 'close'] as const;
const codes = ['ENOSPC', 'EIO', 'EROFS', 'EMFILE'] as const;

function randomFault(random: () => number): DiskFault {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  return {
    code: pick(codes),
    call: pick(calls),
    path: pick(files),
    nth: 1 + Math.floor(random() ** 2 * 20),
    lasting: random() < 0.6,
  };
}

function randomStops(random: () => number): NonNullable<Fate['stops']> {
  const afterMs = random() * 6_000;
  const order = random() < 0.7 ? ('graceful' as const) : ('now' as const);
  const second = { afterMs: afterMs + random() * 2_000, order: 'graceful' as const };
  return random() < 0.3 ? [{ afterMs, order }, second] : [{ afterMs, order }];
}

function randomWeather(random: () => number): Weather {
  const isStorm = random() < 0.15;
  const scale = isStorm ? 0.9 : 0.25;
  return {
    refusals: random() * scale,
    unknowns: random() * 0.15,
    reads: random() * scale,
    early: random(),
    downloads: random() * scale,
    retentionMs: random() < 0.2 ? random() * 10_000 : 30 * 60_000,
  };
}
