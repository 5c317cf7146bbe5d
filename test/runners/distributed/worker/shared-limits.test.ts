import type { Pool, PoolClient } from 'pg';
import { concatMap, firstValueFrom, map, Subject, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createGotTransport } from '../../../../src/transport/got/got-transport.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import type { Transport } from '../../../../src/transport/transport.js';
import type { WorkerOptions } from '../../../../runners/distributed/worker/run-worker.js';
import type { Fleet, FleetWorker } from '../../../support/fleet.js';
import { rowsOf } from '../../../support/run-database.js';
import { until } from '../../../support/until.js';
import { useFleets } from '../../../support/use-fleets.js';

const fleets = useFleets();

/** Counts answers by status. */
function counting(statuses: Map<number, number>): Transport {
  const transport = createGotTransport();
  return (request) =>
    transport(request).pipe(
      map((reply) => {
        statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
        return reply;
      }),
    );
}

function startAll(of: Fleet, count: number, options: Partial<WorkerOptions> = {}): Promise<FleetWorker[]> {
  return Promise.all(Array.from({ length: count }, () => of.start(options)));
}

describe('four workers', () => {
  it.each([
    ['where all answers come', 0],
    ['where each seventh answer is lost', 7],
  ])(
    'never spend, reserve and hold more than the cap together, and use all of it: %s',
    async (_, lostEvery) => {
      const terms = { cap: 10_000_000, concurrency: 40 };
      let posts = 0;
      const faultOf = ({ operation }: { operation: string }) =>
        operation === 'run' && ++posts % lostEvery === 0 ? 'cut' : '';
      const fleet = await fleets.open(rowsOf(200), { terms, emulator: { faultOf } });
      await fleets.database.pool.query(`create or replace function within_cap() returns trigger as $$ begin
        if new.reserved + new.spent + new.unknown > new.cap then raise exception 'beyond the cap'; end if; return new; end $$
        language plpgsql`);
      await fleets.database.pool.query(
        'create or replace trigger within_cap before update on millrace.ledgers for each row execute function within_cap()',
      );
      const workers = await startAll(fleet, 4);
      await fleet.ended();
      const { stop, spent, reserved, unknown } = await fleet.state();
      const rows = await fleet.rows();
      expect(stop?.exitCode).toBe(3);
      expect(stop?.reason).toMatch(
        /^Stopped at the cost cap of \$10\.00: .* Run again with a higher cap to go on\.$/,
      );
      const lost = rows.filter(({ code }) => code === 'unknown').length;
      expect(lost).toBe(lostEvery === 0 ? 0 : Math.floor(100 / lostEvery));
      expect({ spent, reserved, unknown, ended: rows.length }).toStrictEqual({
        spent: 10_000_000 - lost * 100_000,
        reserved: 0,
        unknown: lost * 100_000,
        ended: 100,
      });
      expect(fleet.emulator.bill()).toHaveLength(100);
      expect(workers.flatMap(({ events }) => events.filter(({ type }) => type === 'fault'))).toStrictEqual(
        [],
      );
    },
  );

  it('do a row that fitted under the cap, also where the stop is known before the row', async () => {
    const fleet = await fleets.open(rowsOf(2), { terms: { cap: 100_000 } });
    const database = await fleets.database.connect();
    const stop = new Subject<void>();
    const pool = answeredLate(database.pool, { commitsUntil: stop });
    await fleet.start({ database: { ...database, pool } });
    expect((await fleet.ended()).map(({ code }) => code)).toStrictEqual(['completed']);
    expect(await fleet.state()).toMatchObject({ spent: 100_000, open: 1, stop: { exitCode: 3 } });
  });

  it('keep to one rate in every window, and are hardly ever refused', async () => {
    const rate = 100;
    const fleet = await fleets.open(rowsOf(150), {
      terms: { rate, concurrency: 100 },
      emulator: { rateLimit: rate },
    });
    const statuses = new Map<number, number>();
    const sentAt: number[] = [];
    const counted = counting(statuses);
    const transport: Transport = (request) => {
      sentAt.push(performance.now());
      return counted(request);
    };
    const answers = { longestMs: 0 };
    for (let worker = 0; worker < 4; worker++) {
      const { pool, queue } = await fleets.database.connect();
      await fleet.start({ transport, slots: 25, database: { queue, pool: timed(pool, answers) } });
    }
    const rows = await fleet.ended();
    expect(rows).toHaveLength(150);
    const all = [...statuses.values()].reduce((sum, count) => sum + count, 0);
    expect(statuses.get(429) ?? 0).toBeLessThan(all * 0.02);
    // A turn is spent at most 200 ms late, and is counted from when the worker is told of it.
    const burst = 1 + (rate * (200 + answers.longestMs + 5)) / 1_000;
    expect(mostBeyond(sentAt, rate)).toBeLessThanOrEqual(burst);
    expect((sentAt.at(-1) ?? 0) - (sentAt[0] ?? 0)).toBeGreaterThan(((all - burst) * 1_000) / rate);
  });

  it('rest together after a 429, and go on when an answer is good', async () => {
    let refused = 0;
    const faultOf = ({ operation }: { operation: string }) =>
      operation === 'run' && ++refused <= 3 ? '429' : '';
    const fleet = await fleets.open(rowsOf(20), { emulator: { faultOf } });
    await startAll(fleet, 2);
    const rows = await fleet.ended();
    expect(rows.map(({ code }) => code)).toStrictEqual(rows.map(() => 'completed'));
    expect(fleet.emulator.bill()).toHaveLength(20);
  });
});

describe('a request that may have been accepted', () => {
  it('is held, and its price with it', async () => {
    const faultOf = ({ operation }: { operation: string }) => (operation === 'run' ? 'cut' : '');
    const fleet = await fleets.open(rowsOf(1), { emulator: { faultOf } });
    await fleet.start();
    const [row] = await fleet.ended();
    expect(row?.outcome).toMatchObject({
      error: { code: 'unknown', paid: 'maybe' },
      source: 'unknown',
    });
    expect(await fleet.state()).toMatchObject({ unknown: 100_000, spent: 0, reserved: 0 });
  });

  it('is sent again where the user prefers it, and stays held all the same', async () => {
    let posts = 0;
    const faultOf = ({ operation }: { operation: string }) =>
      operation === 'run' && ++posts === 1 ? 'cut' : '';
    const fleet = await fleets.open(rowsOf(1), { terms: { onUnknown: 'retry' }, emulator: { faultOf } });
    await fleet.start();
    const rows = await fleet.ended();
    expect(rows.map(({ records }) => records.map(({ k }) => k))).toStrictEqual([
      ['intent', 'outcome', 'reopen', 'intent', 'accepted', 'reply', 'outcome'],
    ]);
    expect(await fleet.state()).toMatchObject({ unknown: 100_000, spent: 100_000, reserved: 0 });
  });

  it('is sent again no more often than it may, and then held with all of its purchases', async () => {
    const faultOf = ({ operation }: { operation: string }) => (operation === 'run' ? 'cut' : '');
    const terms = { onUnknown: 'retry', retries: 1 } as const;
    const fleet = await fleets.open(rowsOf(1), { terms, emulator: { faultOf } });
    await fleet.start();
    const [row] = await fleet.ended();
    expect(row?.records.map(({ k }) => k)).toStrictEqual([
      'intent',
      'outcome',
      'reopen',
      'intent',
      'outcome',
    ]);
    expect(await fleet.state()).toMatchObject({ unknown: 200_000, spent: 0, reserved: 0 });
  });

  it('is not sent again where its answer is lost while the worker stops, and is held with its price', async () => {
    const fleet = await fleets.open(rowsOf(1), { terms: { onUnknown: 'retry' } });
    const sent = new Subject<void>();
    const lost = new TransportError('reset', 'ECONNRESET', 'maybe', false, 'reset');
    const transport: Transport = (request) => {
      if (request.method !== 'POST') return createGotTransport()(request);
      sent.next();
      return timer(300).pipe(concatMap(() => throwError(() => lost)));
    };
    const isSent = firstValueFrom(sent);
    const worker = await fleet.start({ transport });
    await isSent;
    await worker.stop();
    await fleet.start();
    const [row] = await fleet.ended();
    expect(row?.records.map(({ k }) => k)).toStrictEqual(['intent', 'outcome']);
    expect(row?.code).toBe('unknown');
    expect(fleet.emulator.bill()).toStrictEqual([]);
    expect(await fleet.state()).toMatchObject({ unknown: 100_000, spent: 0, reserved: 0, open: 0 });
  });
});

it('is not sent again where the price of another purchase does not fit under the cap', async () => {
  let posts = 0;
  const faultOf = ({ operation }: { operation: string }) =>
    operation === 'run' && ++posts === 1 ? 'cut' : '';
  const terms = { onUnknown: 'retry', cap: 150_000 } as const;
  const fleet = await fleets.open(rowsOf(1), { terms, emulator: { faultOf } });
  await fleet.start();
  await fleet.ended();
  expect(posts).toBe(1);
  expect(await fleet.state()).toMatchObject({ unknown: 100_000, spent: 0, stop: { exitCode: 3 } });
});

describe('the key', () => {
  it('is nowhere in the database, though the service echoes it', async () => {
    const fail = 'the-key-of-the-fleet is what you sent';
    const fleet = await fleets.open(rowsOf(2, { fail }));
    await fleet.start();
    expect(await fleet.ended()).toHaveLength(2);
    const { rows: found } = await fleets.database.pool.query<{ text: string }>(
      // What a row sends is the user's own.
      `select record as text from millrace.records where record not like '{"k":"intent"%'
       union all select t::text from millrace.runs t union all select w::text from millrace.workers w`,
    );
    expect(found.filter(({ text }) => text.includes('the-key-of-the-fleet'))).toStrictEqual([]);
  });
});

describe('a worker that has all slots', () => {
  it('leaves an equal share to one that comes later', async () => {
    const fleet = await fleets.open(rowsOf(120, { sleepMs: 100 }), { terms: { concurrency: 12 } });
    const shares = [0, 0];
    const start = (worker: number) => fleet.start({ transport: counted(() => (shares[worker]! += 1)) });
    await start(0);
    await until(() => shares[0]! >= 12);
    await start(1);
    await fleet.ended();
    expect(shares[1]).toBeGreaterThan(30);
    expect(shares[0]! + shares[1]!).toBe(120);
  });
});

/** By how many requests a window of time has more than the rate allows. */
function mostBeyond(sentAt: readonly number[], rate: number): number {
  const beyond = sentAt.flatMap((from, at) =>
    sentAt.slice(at).map((to, more) => more + 1 - ((to - from) * rate) / 1_000),
  );
  return Math.max(...beyond);
}

/** Connections of which is known how long the turns of a rate were waited for. */
function timed(pool: Pool, answers: { longestMs: number }): Pool {
  const query = async (text: string, values: unknown[]) => {
    const askedAt = performance.now();
    const found = await pool.query(text, values);
    if (text.includes('millrace.gates'))
      answers.longestMs = Math.max(answers.longestMs, performance.now() - askedAt);
    return found;
  };
  return replacing(pool, { query });
}

/** Connections that answer to the commit of a group that gives rows once the worker has read that the run stops. */
function answeredLate(pool: Pool, { commitsUntil: stop }: { commitsUntil: Subject<void> }): Pool {
  const known = firstValueFrom(stop, { defaultValue: undefined });
  const look = async (text: string, values: unknown[]) => {
    const found = await pool.query<{ stop?: string | null }>(text, values);
    if (text.startsWith('select run, start, terms') && found.rows[0]?.stop != null)
      setImmediate(() => stop.complete());
    return found;
  };
  const connect = async (): Promise<PoolClient> => {
    const client = await pool.connect();
    const send = client.query.bind(client) as (asked: unknown) => Promise<unknown>;
    let gives = false;
    const query = async (asked: string | { text: string }) => {
      if (typeof asked !== 'string') gives ||= asked.text.startsWith('update millrace.rows set worker');
      const answer = await send(asked);
      if (asked === 'commit' && gives) await known;
      return answer;
    };
    return replacing(client, { query });
  };
  return replacing(pool, { connect, query: look });
}

function replacing<T extends object>(target: T, methods: Readonly<Record<string, unknown>>): T {
  return new Proxy(target, {
    get(_, name) {
      const value = methods[name as string] ?? Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function counted(count: () => void): Transport {
  const transport = createGotTransport();
  return (request) => {
    if (request.method === 'POST') count();
    return transport(request);
  };
}

describe('a limit for prices in no list', () => {
  /** Of a run whose own process is away: rows of 0.10 dollars, and 0.50 dollars that were agreed to. */
  const openUnlisted = (count: number) =>
    fleets.open(rowsOf(count), {
      terms: {
        concurrency: 4,
        prices: { name: 'test', edit: {}, endpoints: [], route: null },
        unagreed: { rows: count, mostUsd: 10, agreed: 500_000 },
      },
      emulator: {
        functions: {
          queue: {
            echo: async (_, job) => {
              await job.sleep(200);
              return { cost: 0.1 };
            },
          },
        },
      },
    });

  it('is one of all workers together, and of those that follow them', async () => {
    const fleet = await openUnlisted(60);
    await startAll(fleet, 2, { slots: 2 });
    await fleet.ended();
    const { stop, spent } = await fleet.state();
    expect(stop?.exitCode).toBe(3);
    expect(stop?.reason).toMatch(
      /^Stopped because rows without a listed price have cost \$0\.\d+ in this start, and nobody has agreed to more than \$0\.50\./,
    );
    // Six are above the limit, and up to four others are on their way then.
    expect(spent).toBeGreaterThan(500_000);
    expect(spent).toBeLessThanOrEqual(1_000_000);
    expect(fleet.emulator.bill()).toHaveLength(spent / 100_000);
  });

  it('counts what a worker has bought that has left, and the jobs that it has left to others', async () => {
    const fleet = await openUnlisted(60);
    for (let turn = 0; turn < 4 && (await fleet.state()).stop === undefined; turn += 1) {
      const bought = fleet.emulator.bill().length;
      const worker = await fleet.start({ slots: 2 });
      await until(
        async () => fleet.emulator.bill().length > bought || (await fleet.state()).stop !== undefined,
      );
      await worker.stop();
    }
    await fleet.start({ slots: 2 });
    await fleet.ended();
    const { stop, spent } = await fleet.state();
    expect([stop?.exitCode, spent <= 900_000, spent > 500_000]).toEqual([3, true, true]);
    expect(fleet.emulator.bill()).toHaveLength(spent / 100_000);
  });
});
