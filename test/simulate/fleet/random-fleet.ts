import { seeded } from '../../support/seeded.js';
import { randomCalls } from '../callbacks.js';
import { randomValueCaps } from '../value-caps.js';
import { fairWeather, type Weather } from '../weather.js';
import type { CollectorFate, FleetFate, FleetSimulation } from './simulate-fleet.js';

const hourMs = 3_600_000;

/** A run over a database, and what befalls its processes, by the seed alone. */
export function randomFleet(seed: number): FleetSimulation {
  const random = seeded(seed * 2 + 1);
  const chance = (probability: number): boolean => random() < probability;
  const some = <T>(most: number, one: () => T): T[] =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, one);
  const isUneven = chance(0.5);
  const capUsd = chance(0.25) ? 0.2 + random() * 0.6 : undefined;
  const stopAfter = () => ({
    afterMs: random() * 20_000,
    order: chance(0.7) ? ('graceful' as const) : ('now' as const),
  });
  const worker = (): FleetFate => ({
    ...(chance(0.5) && { diesAtCall: 1 + Math.floor(random() ** 2 * 600) }),
    ...(chance(0.3) && { freezes: [{ afterMs: random() * 20_000, forMs: 10 ** (3 + random() * 2.2) }] }),
    ...(chance(0.2) && { cuts: [{ afterMs: random() * 20_000, forMs: 10 ** (3 + random() * 2.2) }] }),
    ...(chance(0.2) && { stops: [stopAfter()] }),
    ...(isUneven && { skewMs: (random() - 0.5) * 4 * hourMs }),
    beginsMs: random() * 5_000,
  });
  const collector = (): CollectorFate => ({
    ...(chance(0.6) && { diesAtCall: 1 + Math.floor(random() ** 2 * 500) }),
    ...(chance(0.15) && { freezes: [{ afterMs: random() * 20_000, forMs: 10 ** (3 + random() * 2.2) }] }),
    ...(chance(0.3) && { stops: [stopAfter()] }),
    ...(isUneven && { skewMs: (random() - 0.5) * 4 * hourMs }),
    isLocal: chance(0.25),
    options: {
      ...(capUsd !== undefined && { maxCostUsd: capUsd }),
      ...(chance(0.15) && { limit: 1 + Math.floor(random() * 6) }),
      ...(chance(0.2) && { timeoutMs: 5_000 + random() * 60_000 }),
      ...(chance(0.1) && { halt: { count: 1 + Math.floor(random() * 3) } }),
    },
  });
  return {
    seed,
    rows: 1 + Math.floor(random() * 12),
    beside: 1 + Math.floor(random() * 3),
    workers: some(8, worker),
    collectors: withValueCaps(seed, some(3, collector)),
    ...(chance(0.6) && { weather: randomWeather(random) }),
    database: {
      breaks: chance(0.5) ? random() ** 3 * 0.1 : 0,
      lostCommits: chance(0.4) ? random() * 0.3 : 0,
      mostMs: 1 + random() ** 3 * 60,
    },
    ...(chance(0.3) && { away: [{ afterMs: random() * 20_000, forMs: 10 ** (2 + random() * 2.8) }] }),
    ...(isUneven && {
      clockSet: some(2, () => ({ afterMs: random() * 30_000, byMs: (random() - 0.5) * 4 * hourMs })),
    }),
    options: {
      concurrency: 1 + Math.floor(random() * 8),
      retries: Math.floor(random() * 5),
      ...(chance(0.15) && { onUnknown: 'retry' as const }),
      ...(chance(0.15) && { rate: 2 + random() * 20 }),
      ...(chance(0.3) && { runsyncTimeoutMs: 200 + random() * 20_000 }),
    },
  };
}

/** The same run of a service that calls back, with some workers that listen. */
export function calledFleet(seed: number): FleetSimulation {
  const simulation = randomFleet(seed);
  const random = seeded(seed + 0.125);
  const workers = simulation.workers.map((fate) => ({ ...fate, listens: random() < 0.6 }));
  const weather = { ...(simulation.weather ?? fairWeather), calls: randomCalls(random) };
  return { ...simulation, workers, weather, called: true };
}

/** The same run over a database whose place standbys take that have all of it. */
export function switchedFleet(seed: number): FleetSimulation {
  const random = seeded(seed + 0.25);
  const switchovers = Array.from({ length: 1 + Math.floor(random() * 2) }, () => ({
    afterMs: random() * 20_000,
    forMs: 10 ** (random() * 4),
  }));
  return { ...randomFleet(seed), switchovers };
}

/** The same run over a database whose place standbys take that lack its last commits. */
export function lossyFleet(seed: number): FleetSimulation {
  const random = seeded(seed + 0.375);
  const switchovers = Array.from({ length: 1 + Math.floor(random() * 2) }, () => ({
    afterMs: random() * 20_000,
    forMs: 10 ** (random() * 4),
    lost: 1 + Math.floor(random() ** 2 * 8),
  }));
  return { ...randomFleet(seed), switchovers };
}

/** Several runs over one database at the same time, of which many share the cap of a day; some standbys lack its last commits. */
export function severalFleet(seed: number): FleetSimulation {
  const random = seeded(seed + 0.4375);
  const first = random() < 0.2 ? lossyFleet(seed) : random() < 0.25 ? switchedFleet(seed) : randomFleet(seed);
  const others = Array.from({ length: 1 + Math.floor(random() * 2) }, (_, place) => {
    const { rows, collectors } = randomFleet(seed + 500_000_000 * (place + 1));
    return { rows, beginsMs: random() * 10_000, ...withChanges(seed + place, rows, collectors) };
  });
  const overtaken = (fate: CollectorFate): CollectorFate =>
    random() < 0.5
      ? { ...fate, overtaken: { afterMs: random() ** 4 * 10_000, forMs: 10 ** (3 + random() * 2.2) } }
      : fate;
  const collectors = first.collectors.map(overtaken);
  const several = { ...first, collectors, others, ...(random() < 0.5 && { dayCapUsd: 0.1 + random() }) };
  return seeded(seed + 0.46875)() < 0.4 ? withLostWorkers(several) : several;
}

/** Rows that come into the manifest between two starts, and starts that send again what has failed. */
function withChanges(seed: number, rows: number, fates: readonly CollectorFate[]) {
  const random = seeded(seed + 0.46484375);
  // A cap of values is refused where no row has one.
  const isByValue = fates.some(({ options }) => options?.maxCostByUsd !== undefined);
  const late = random() < 0.5 && !isByValue ? Math.floor(random() * rows) : 0;
  const retry = ['failed', 'download', 'deadline'] as const;
  const collectors = fates.map((fate) =>
    random() < 0.3 ? { ...fate, options: { ...fate.options, retry } } : fate,
  );
  return { late, collectors };
}

/** Slow enough for workers to be declared dead and to come back while the run goes on. */
function withLostWorkers(simulation: FleetSimulation): FleetSimulation {
  const random = seeded(simulation.seed + 0.484375);
  const away = () => [{ afterMs: 500 + random() * 12_000, forMs: 50_000 + random() * 100_000 }];
  const lost = [{ freezes: away() }, { cuts: away() }, { beginsMs: random() * 5_000 }];
  return {
    ...simulation,
    rows: simulation.rows + 8,
    beside: Math.max(simulation.beside, 2),
    workers: [...lost, ...simulation.workers],
    options: { ...simulation.options, rate: 0.3 + random() },
  };
}

function withValueCaps(seed: number, fates: readonly CollectorFate[]): CollectorFate[] {
  const caps = randomValueCaps(seed, fates.length);
  return fates.map((fate, place) => {
    const customer = caps[place];
    return customer === undefined
      ? fate
      : { ...fate, options: { ...fate.options, maxCostByUsd: { customer } } };
  });
}

function randomWeather(random: () => number): Weather {
  return {
    refusals: random() ** 2 * 0.3,
    unknowns: random() * 0.15,
    reads: random() * 0.25,
    early: random(),
    downloads: random() * 0.25,
    retentionMs: 30 * 60_000,
  };
}
