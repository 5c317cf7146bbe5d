/** The tables of one database. What a transaction changes is a copy of them until it is committed. */
export class FakeTables {
  runs: Row[] = [];
  ledgers: Row[] = [];
  valueLedgers: Row[] = [];
  rows: Row[] = [];
  records: Row[] = [];
  seats: Row[] = [];
  jobs: Row[] = [];
  troubles: Row[] = [];
  callbacks: Row[] = [];
  /** Of pg-boss, in the order in which they were put. */
  queued: Row[] = [];
  workers: Row[] = [];
  gates: Row[] = [];
  /** Another one after a restore. */
  timeline = '1';
}

export type Row = Record<string, unknown>;

/** What a statement does: its rows. */
type Statement = (tables: FakeTables, values: Values, at: number) => readonly Row[];
export type Values = readonly [
  ...[never, never, never, never, never, never],
  ...[never, never, never, never, never],
];

const nothing: readonly Row[] = [];

function removeFrom(table: Row[], isGone: (row: Row) => boolean): Row[] {
  const gone = table.filter(isGone);
  if (gone.length > 0) table.splice(0, table.length, ...table.filter((row) => !gone.includes(row)));
  return gone;
}

function of(table: readonly Row[], fields: Row): Row | undefined {
  return table.find((row) => Object.entries(fields).every(([name, value]) => row[name] === value));
}

function change(table: readonly Row[], fields: Row, by: Row): readonly Row[] {
  const found = of(table, fields);
  if (found !== undefined) Object.assign(found, by);
  return found === undefined ? nothing : [found];
}

/** Adds a row unless one with the same key is there; returns it if it is new. */
function add(table: Row[], key: readonly string[], row: Row): readonly Row[] {
  if (of(table, Object.fromEntries(key.map((name) => [name, row[name]]))) !== undefined) return nothing;
  table.push(row);
  return [row];
}

const isAlive = ({ workers }: FakeTables, worker: unknown, at: number, patienceMs: number): boolean =>
  workers.some((one) => one['worker'] === worker && (one['seen_at'] as number) > at - patienceMs);

const seatsOrRows = ({ seats, rows }: FakeTables): readonly Row[] => {
  const found: Row[] = [];
  for (const { run, worker } of [...seats, ...rows])
    if (worker !== null) add(found, ['run', 'worker'], { run, worker });
  return found;
};

const isMoved = ({ runs, timeline }: FakeTables, run: unknown): boolean =>
  (of(runs, { run })?.['timeline'] ?? timeline) !== timeline;

const pausedMs = ({ paused_until: until }: Row, at: number): number => {
  const ms = Math.max((until as number) - at, 0);
  return ms > 600_000 ? 0 : ms;
};

const stored = ({ seq, item, is_last: isLast, record }: Row): Row => ({ seq, item, isLast, record });

const storedOf = `select replace(digest::text, '-', '') as digest, id as row, attempt, job_id as "jobId" from millrace.callbacks where run = $1`;

/** The statements of `runners/distributed/table`, by how they begin. */
export const statements: readonly (readonly [begin: string, does: Statement])[] = [
  [
    'select fed, seq::float8, cap',
    (tables, [run]) => {
      const ledger = of(tables.ledgers, { run });
      const { stop, start } = of(tables.runs, { run }) ?? {};
      const seats = tables.seats.filter((seat) => seat['run'] === run);
      const hungry = seats.filter((seat) => seat['is_hungry']).map(({ worker }) => worker);
      const starved = seats.filter((seat) => seat['is_starved']).map(({ worker }) => worker);
      const places = { seats: seats.length, hungry, starved };
      const ofRun = { start, isStopped: stop != null, isMoved: isMoved(tables, run) };
      return ledger === undefined ? nothing : [{ ...ledger, ...ofRun, ...places }];
    },
  ],
  // All transactions share one lock, which this one has by now.
  ['select from millrace.ledgers where run = $1 for update', () => nothing],
  [
    'update millrace.ledgers set seq',
    ({ ledgers }, [run, seq, reserved, spent, unknown, waiting, inFlight, polled, fed, toPoll, unlisted]) =>
      change(
        ledgers,
        { run },
        { seq, reserved, spent, unknown, waiting, inFlight, polled, fed, toPoll, unlisted },
      ),
  ],
  [
    'update millrace.ledgers set cap',
    ({ ledgers }, [run, cap, spent, unknown, concurrency, agreed]) =>
      change(ledgers, { run }, { cap, spent, unknown, concurrency, agreed, fed: 0, unlisted: 0 }),
  ],
  [
    'update millrace.ledgers set value_caps',
    ({ ledgers }, [run, valueCaps]) => change(ledgers, { run }, { valueCaps }),
  ],
  [
    'delete from millrace.value_ledgers',
    ({ valueLedgers }, [run]) => removeFrom(valueLedgers, (row) => row['run'] === run),
  ],
  [
    'select place, value, taken::float8',
    ({ valueLedgers }, [run, places, values]) =>
      (values as string[]).flatMap((value, at) => {
        const row = of(valueLedgers, { run, place: places[at], value });
        return row === undefined ? [] : [row];
      }),
  ],
  [
    'insert into millrace.value_ledgers',
    ({ valueLedgers }, [run, places, values, taken, refused]) =>
      (values as string[]).map((value, at) => {
        add(valueLedgers, ['run', 'place', 'value'], { run, place: places[at], value, taken: 0, refused: 0 });
        const row = of(valueLedgers, { run, place: places[at], value })!;
        row['taken'] = (row['taken'] as number) + (taken[at] as number);
        row['refused'] = (row['refused'] as number) + (refused[at] as number);
        return row;
      }),
  ],
  ['select run from millrace.runs where key', ({ runs }, [key]) => runs.filter((run) => run['key'] === key)],
  [
    'with made as (insert into millrace.runs',
    ({ runs, ledgers, gates, timeline }, [key]) => {
      const texts = { terms: '{}', stop: null, blocked: '{}', prices: '[]', webhooks: null };
      add(runs, ['key'], { run: runs.length + 1, key, start: 0, timeline, ...texts });
      const { run } = of(runs, { key })!;
      const money = {
        cap: null,
        valueCaps: null,
        reserved: 0,
        spent: 0,
        unknown: 0,
        unlisted: 0,
        agreed: null,
      };
      const counts = { seq: 0, fed: 0, waiting: 0, toPoll: 0, inFlight: 0, polled: 0, concurrency: 1 };
      add(ledgers, ['run'], { run, ...money, ...counts });
      add(gates, ['run'], { run, rate: null, next_at: 0, taken_at: 0, paused_until: 0 });
      return [{ run }];
    },
  ],
  ['update millrace.gates set rate', ({ gates }, [run, rate]) => change(gates, { run }, { rate })],
  [
    'delete from millrace.troubles',
    ({ troubles }, [run]) => removeFrom(troubles, (row) => row['run'] === run),
  ],
  [
    'delete from millrace.seats where run = $1 and worker',
    ({ seats }, [run, worker]) => removeFrom(seats, (row) => row['run'] === run && row['worker'] === worker),
  ],
  [
    'update millrace.runs set terms',
    ({ runs, timeline }, [run, terms]) =>
      change(runs, { run }, { terms, stop: null, blocked: '{}', prices: '[]', timeline }),
  ],
  [
    'update millrace.runs set start',
    ({ runs }, [run]) =>
      change(runs, { run }, { start: (of(runs, { run })?.['start'] as number) + 1 }).map((row) => ({
        ...row,
      })),
  ],
  ['select coalesce(timeline <> ', (tables, [run]) => [{ isMoved: isMoved(tables, run) }]],
  ['select stop from millrace.runs', ({ runs }, [run]) => runs.filter((row) => row['run'] === run)],
  ['update millrace.runs set stop', ({ runs }, [run, stop]) => change(runs, { run }, { stop })],
  ['update millrace.runs set prices', ({ runs }, [run, prices]) => change(runs, { run }, { prices })],
  ['select blocked from millrace.runs', ({ runs }, [run]) => runs.filter((row) => row['run'] === run)],
  ['update millrace.runs set blocked', ({ runs }, [run, blocked]) => change(runs, { run }, { blocked })],
  [
    'select run, start, terms',
    (tables, [runs], at) =>
      tables.runs.flatMap((run) => {
        const { waiting } = of(tables.ledgers, { run: run['run'] }) ?? {};
        const gate = of(tables.gates, { run: run['run'] });
        if (waiting === undefined || gate === undefined) return [];
        const isWanted =
          ((waiting as number) > 0 && run['stop'] === null) || (runs as unknown[]).includes(run['run']);
        const areCalled = tables.callbacks.some((one) => one['run'] === run['run']);
        return isWanted ? [{ ...run, waiting, areCalled, pausedMs: pausedMs(gate, at), now: at }] : [];
      }),
  ],
  [
    'select terms, extract',
    ({ runs }, [run], at) => runs.filter((row) => row['run'] === run).map((row) => ({ ...row, now: at })),
  ],
  [
    'insert into millrace.seats',
    ({ seats }, [run, worker]) => {
      const unused = seats.filter(
        (seat) => seat['run'] === run && seat['worker'] === worker && seat['groups'] === 0,
      );
      const taken = add(seats, ['run', 'worker'], {
        run,
        worker,
        groups: 0,
        first: 0,
        is_hungry: false,
        is_starved: false,
      });
      return [...unused, ...taken];
    },
  ],
  [
    'update millrace.seats set is_hungry',
    ({ seats }, [run, worker, isHungry, isStarved]) =>
      change(seats, { run, worker }, { is_hungry: isHungry, is_starved: isStarved }),
  ],
  [
    'update millrace.seats set groups = $3',
    ({ seats, ledgers }, [run, worker, known]) =>
      change(seats, { run, worker }, { groups: (known as number) + 1, first: of(ledgers, { run })?.['seq'] }),
  ],
  [
    'update millrace.seats set groups',
    ({ seats, ledgers }, [run, worker, known]) => {
      if (of(seats, { run, worker })?.['groups'] !== known) return nothing;
      return change(
        seats,
        { run, worker },
        { groups: (known as number) + 1, first: of(ledgers, { run })?.['seq'] },
      );
    },
  ],
  [
    'select seq::float8, groups::float8, first::float8',
    ({ seats, ledgers }, [run, worker]) => {
      const { groups = null, first = null } = of(seats, { run, worker }) ?? {};
      return ledgers.filter((row) => row['run'] === run).map(({ seq }) => ({ seq, groups, first }));
    },
  ],
  [
    'insert into millrace.records',
    ({ records }, [run, after, items, lasts, texts]) =>
      (items as string[]).flatMap((item, place) => {
        const seq = (after as number) + place + 1;
        if (of(records, { run, seq }) !== undefined) throw new Error(`two records with number ${seq}`);
        return add(records, ['run', 'seq'], { run, seq, item, is_last: lasts[place], record: texts[place] });
      }),
  ],
  [
    'select seq::float8, item, is_last as "isLast", record from ( select *',
    ({ records }, [run, after, most]) =>
      records
        .filter((row) => row['run'] === run && (row['seq'] as number) > after)
        .slice(0, most)
        .map(stored),
  ],
  [
    'select seq::float8, item, is_last as "isLast", record from millrace.records where run = $1 and seq > $2 and item',
    ({ records }, [run, after, items]) =>
      records
        .filter(
          (row) =>
            row['run'] === run &&
            (row['seq'] as number) > after &&
            (items as unknown[]).includes(row['item']),
        )
        .map(stored),
  ],
  [
    'insert into millrace.rows',
    ({ rows }, [run, since, items, tasks, places, reserved]) =>
      (items as string[]).flatMap((item, at) => {
        const row = {
          run,
          item,
          task: tasks[at],
          place: places[at],
          reserved: reserved[at],
          since,
          worker: null,
        };
        if (add(rows, ['run', 'item'], row) === nothing) throw new Error('a row was added twice');
        return [row];
      }),
  ],
  [
    'delete from millrace.rows where run = $1 and item',
    ({ rows }, [run, items]) =>
      removeFrom(rows, (row) => row['run'] === run && (items as unknown[]).includes(row['item'])),
  ],
  [
    'delete from millrace.rows where run = $1 and worker is null',
    ({ rows }, [run]) => removeFrom(rows, (row) => row['run'] === run && row['worker'] === null),
  ],
  [
    'select (count(*) filter (where worker is null))::int as waiting',
    ({ rows }, [run]) => {
      const all = rows.filter((row) => row['run'] === run);
      const polled = all.filter(({ place }) => place === 'poll');
      const waiting = (of: readonly Row[]) => of.filter(({ worker }) => worker === null).length;
      const held = (of: readonly Row[]) => of.length - waiting(of);
      const reserved = all.reduce((sum, row) => sum + (row['reserved'] as number), 0);
      const counts = { waiting: waiting(all), toPoll: waiting(polled), inFlight: held(all) };
      return [{ ...counts, polled: held(polled), reserved }];
    },
  ],
  [
    'select waiting + in_flight',
    ({ ledgers, rows, queued }, [run]) => {
      const { waiting, inFlight } = of(ledgers, { run }) as { waiting: number; inFlight: number };
      const all = rows.filter((row) => row['run'] === run);
      return [
        {
          right:
            waiting + inFlight === all.length &&
            waiting === queued.filter((row) => row['run'] === run).length,
        },
      ];
    },
  ],
  [
    'with before as (select item, reserved',
    ({ rows }, [run, items, price]) =>
      (items as string[]).flatMap((item) => {
        const row = of(rows, { run, item });
        if (row === undefined) return [];
        const by = (price as number) - (row['reserved'] as number);
        row['reserved'] = price;
        return [{ item, by }];
      }),
  ],
  [
    'update millrace.rows set worker',
    ({ rows }, [run, worker, items, reserved]) =>
      (items as string[]).flatMap((item, place) =>
        change(rows, { run, item }, { worker, reserved: reserved[place] }),
      ),
  ],
  [
    'select item, task, reserved::float8, since::float8 from millrace.rows where run = $1 and item',
    ({ rows }, [run, items]) =>
      rows.filter((row) => row['run'] === run && (items as unknown[]).includes(row['item'])),
  ],
  [
    'select item, task, reserved::float8, since::float8 from millrace.rows where run = $1 and worker',
    ({ rows }, values) => {
      const [run, worker, item] = values as readonly unknown[];
      const held = rows.filter((row) => row['run'] === run && row['worker'] === worker);
      return item === undefined ? held : held.filter((row) => row['item'] === item);
    },
  ],
  [
    'select item, task from millrace.rows',
    ({ rows }, [run, items]) =>
      rows.filter((row) => row['run'] === run && (items as unknown[]).includes(row['item'])),
  ],
  [
    'select (select count(*)::int from (select run, worker from millrace.seats union',
    (tables, [run]) => [
      {
        seats: seatsOrRows(tables).filter((one) => one['run'] === run).length,
        rows: of(tables.ledgers, { run })?.['inFlight'],
      },
    ],
  ],
  [
    'select start, seq::float8, fed, waiting as open',
    (tables, [run, patienceMs], at) => {
      const row = of(tables.runs, { run });
      if (row === undefined) return nothing;
      const { waiting: open, ...ledger } = of(tables.ledgers, { run })!;
      const troubles = tables.troubles.filter((one) => one['run'] === run).map(({ cause }) => cause);
      const seats = tables.seats.filter(
        (one) => one['run'] === run && isAlive(tables, one['worker'], at, patienceMs),
      );
      const { start, stop, blocked } = row;
      const full = tables.valueLedgers
        .filter((one) => one['run'] === run && (one['refused'] as number) > 0)
        .map(({ place, value, taken, refused }) => JSON.stringify([place, value, taken, refused]));
      return [
        {
          ...ledger,
          open,
          start,
          stop,
          blocked,
          pausedMs: pausedMs(of(tables.gates, { run })!, at),
          troubles,
          full,
          workers: seats.length,
        },
      ];
    },
  ],
  [
    'insert into millrace.jobs',
    ({ jobs }, [run, hashes, ids]) =>
      (hashes as string[]).flatMap((hash, place) =>
        add(jobs, ['run', 'hash'], { run, hash, id: ids[place] }),
      ),
  ],
  [
    'select replace(hash',
    ({ jobs }, [run, hashes]) =>
      jobs.filter((row) => row['run'] === run && (hashes as unknown[]).includes(row['hash'])),
  ],
  [
    'with before as (select run, rate',
    ({ gates }, [run, turns], at) => {
      const gate = of(gates, { run })!;
      const setBackMs = Math.max((gate['taken_at'] as number) - at, 0);
      const first = Math.max((gate['next_at'] as number) - setBackMs, at);
      gate['taken_at'] = at;
      const everyMs = 1_000 / (gate['rate'] as number);
      gate['next_at'] = first + turns * everyMs;
      return [{ inMs: first - at, everyMs }];
    },
  ],
  [
    'update millrace.gates set paused_until',
    ({ gates }, [run, forMs], at) => {
      const gate = of(gates, { run })!;
      const until = at + (forMs as number);
      const isLonger = (gate['paused_until'] as number) < until || pausedMs(gate, at) === 0;
      return isLonger ? change(gates, { run }, { paused_until: until }) : nothing;
    },
  ],
  ['update millrace.runs set webhooks', ({ runs }, [run, webhooks]) => change(runs, { run }, { webhooks })],
  [
    'select run as number, webhooks',
    ({ runs }) => runs.flatMap(({ run, webhooks }) => (webhooks === null ? [] : [{ number: run, webhooks }])),
  ],
  [
    'insert into millrace.callbacks',
    ({ callbacks }, [run, digest, id, attempt, jobId, body]) =>
      add(callbacks, ['run', 'digest'], { run, digest, id, row: id, attempt, jobId, body }),
  ],
  [
    `${storedOf} and id = any`,
    ({ callbacks }, [run, ids]) =>
      callbacks.filter((row) => row['run'] === run && (ids as unknown[]).includes(row['id'])),
  ],
  [
    `${storedOf} and ($2::uuid`,
    ({ callbacks }, [run, after, most]) =>
      callbacks
        .filter((row) => row['run'] === run && (row['digest'] as string) > ((after as string | null) ?? ''))
        .sort((one, other) => (String(one['digest']) < String(other['digest']) ? -1 : 1))
        .slice(0, most),
  ],
  [
    'select body from millrace.callbacks',
    ({ callbacks }, [run, digest]) =>
      callbacks.filter((row) => row['run'] === run && row['digest'] === digest),
  ],
  [
    'delete from millrace.callbacks',
    ({ callbacks }, [run, digests]) =>
      removeFrom(callbacks, (row) => row['run'] === run && (digests as unknown[]).includes(row['digest'])),
  ],
  [
    'insert into millrace.troubles',
    ({ troubles }, [run, worker, cause]) => add(troubles, ['run', 'worker'], { run, worker, cause }),
  ],
  [
    'select w.worker, host, pid',
    ({ workers, rows }, _, at) =>
      workers.map((worker) => ({
        ...worker,
        startedAt: 0,
        seenMsAgo: Math.max(at - (worker['seen_at'] as number), 0),
        rows: rows.filter((row) => row['worker'] === worker['worker']).length,
      })),
  ],
  [
    'insert into millrace.workers',
    ({ workers }, [worker, host, pid, does], at) => {
      add(workers, ['worker'], { worker, host, pid });
      return change(workers, { worker }, { does, seen_at: at });
    },
  ],
  [
    'delete from millrace.workers where worker',
    ({ workers }, [worker]) => removeFrom(workers, (row) => row['worker'] === worker),
  ],
  [
    'select run, worker from (select run, worker from millrace.seats union',
    (tables, [patienceMs, own], at) =>
      seatsOrRows(tables).filter(({ worker }) => worker === own || !isAlive(tables, worker, at, patienceMs)),
  ],
  [
    'select from (select $2::uuid',
    (tables, [patienceMs, worker], at) => (isAlive(tables, worker, at, patienceMs) ? nothing : [{}]),
  ],
  ['vacuum', () => nothing],
  ['select pg_advisory_lock_shared', () => nothing],
  ['select extract(epoch from clock_timestamp())', (_, __, at) => [{ now: at }]],
  [
    'queue put',
    ({ queued }, [run, place, items]) =>
      (items as { item: string; priority: number }[]).flatMap((row) => {
        if (add(queued, ['item'], { run, place, ...row }) === nothing) throw new Error('a job was put twice');
        return [];
      }),
  ],
  [
    'queue deal',
    ({ queued }, [run, place, most]) => {
      const found = queued
        .filter((job) => job['run'] === run && job['place'] === place)
        .sort((one, other) => Number(other['priority']) - Number(one['priority']))
        .slice(0, most);
      return removeFrom(queued, (job) => found.includes(job));
    },
  ],
  ['queue clear', ({ queued }, [run]) => removeFrom(queued, (job) => job['run'] === run)],
];

/** Tables that a transaction does not lock: what is written there is seen at once. */
export const isShared = (text: string): boolean =>
  /millrace\.(workers|gates)/.test(text) && !text.startsWith('with made');
