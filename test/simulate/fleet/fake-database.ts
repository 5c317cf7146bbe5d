import { EventEmitter } from 'node:events';
import type { Pool } from 'pg';
import type { ConnectedDatabase } from '../../../runners/distributed/connect-database.js';
import type { Transaction } from '../../../runners/distributed/database/transaction.js';
import type { Place, RowQueue } from '../../../runners/distributed/queue/row-queue.js';
import type { VirtualClock } from '../virtual-clock.js';
import { FakeTables, isShared, statements, type Row, type Values } from './fake-tables.js';
import type { FleetLife } from './fleet-life.js';

/** What befalls statements. */
export interface DatabaseWeather {
  /** Chance that a connection breaks before or after a statement. */
  readonly breaks: number;
  /** Chance that it breaks when a commit is done, before that is known. */
  readonly lostCommits: number;
  readonly mostMs: number;
}

/** As `open-pool.ts` asks for. */
const silentMs = 5_000;

/** A PostgreSQL with millrace's tables, in memory: transactions, one lock for all that writes, notifications, and its own clock. */
export class FakeDatabase {
  /** What is wrong with what was committed. */
  readonly broken: string[] = [];
  weather: DatabaseWeather = { breaks: 0, lostCommits: 0, mostMs: 3 };
  skewMs = 0;
  private tables = new FakeTables();
  private awayUntil = -Infinity;
  private switchovers = 0;
  private hasLost = false;
  /** As it was before the last commits. */
  private earlier: FakeTables[] = [];
  /** The process of each run's latest start; those of earlier ones are in `starters` too. */
  private readonly latest = new Map<unknown, FleetLife>();
  private readonly starters = new Set<FleetLife>();
  private readonly clients = new Set<FakeClient>();
  private holder: FakeClient | undefined;
  private readonly waiting: (() => void)[] = [];

  constructor(
    readonly clock: VirtualClock,
    readonly random: () => number,
  ) {}

  get now(): number {
    return this.clock.now + this.skewMs;
  }

  get isAway(): boolean {
    return this.clock.now < this.awayUntil;
  }

  get committed(): Readonly<FakeTables> {
    return this.tables;
  }

  /** Killed, or frozen so long that nobody waits for it. */
  goAway(forMs: number): void {
    this.awayUntil = this.clock.now + forMs;
    for (const client of [...this.clients]) client.break();
  }

  /** A standby takes its place that lacks this many of its last commits. */
  switchOver(forMs: number, lost = 0): void {
    this.goAway(forMs);
    this.hasLost ||= lost > 0;
    const { workers, gates } = this.tables;
    const earlier = structuredClone(this.earlier.at(-lost) ?? this.tables);
    if (lost > 0) this.tables = Object.assign(new FakeTables(), earlier, { workers, gates });
    this.tables.timeline = `timeline ${++this.switchovers}`;
  }

  /** A person says that nothing is missing there: a trigger notes the database as it is. */
  confirm(): void {
    const { runs, timeline } = this.tables;
    for (const run of runs) run['timeline'] = timeline;
  }

  comeBack(): void {
    this.awayUntil = -Infinity;
  }

  /** As one process has it. */
  connectedTo(life: FleetLife): ConnectedDatabase {
    const pool = {
      query: async (text: string, values: readonly unknown[] = []) => {
        const client = new FakeClient(this, life);
        return client.query(text, values).finally(() => client.release());
      },
      connect: async () => {
        const client = new FakeClient(this, life);
        // Connecting takes a while, and may fail.
        await client.query('connect').catch((error: unknown) => {
          client.release();
          throw error;
        });
        return client;
      },
      end: () => Promise.resolve(),
    } as unknown as Pool;
    const close = () => Promise.resolve();
    return { pool, queue, shown: 'fake', isEmbedded: false, close };
  }

  add(client: FakeClient): void {
    this.clients.add(client);
  }

  remove(client: FakeClient): void {
    this.clients.delete(client);
    this.unlock(client);
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** Waits for the lock that all transactions share. A client that breaks meanwhile gets none. */
  async lock(client: FakeClient): Promise<void> {
    while (this.holder !== undefined && this.holder !== client && this.clients.has(client))
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    if (!this.clients.has(client)) throw gone();
    this.holder = client;
  }

  unlock(client: FakeClient): void {
    if (this.holder !== client) return;
    this.holder = undefined;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** The tables for a transaction. */
  copy(): FakeTables {
    const { workers, gates, ...own } = this.tables;
    return Object.assign(new FakeTables(), structuredClone(own), { workers, gates });
  }

  commit(tables: FakeTables, notifications: readonly string[], by: FleetLife): void {
    this.compareStarts(tables, by);
    this.earlier = [...this.earlier.slice(-9), this.tables];
    this.tables = tables;
    for (const ledger of tables.ledgers) {
      const { run, reserved, spent, unknown, cap, waiting, inFlight } = ledger as Record<
        string,
        number | null
      >;
      const sum = reserved! + spent! + unknown!;
      if (cap !== null && sum > cap! && !this.hasLost)
        this.broken.push(`${sum} reserved, spent and unknown under a cap of ${cap}`);
      if (Math.min(reserved!, waiting!, inFlight!) < 0) this.broken.push('a ledger is below zero');
      // What it has forgotten is held beside what fits.
      if (!this.hasLost) this.broken.push(...wrongValues(tables, ledger, sum));
      const rows = tables.rows.filter((row) => row['run'] === run);
      const held = rows.filter(({ worker }) => worker !== null).length;
      if (held !== inFlight || rows.length !== waiting! + held)
        this.broken.push(
          `${inFlight} in flight and ${waiting} waiting, of ${held} and ${rows.length - held}`,
        );
    }
    for (const payload of notifications) this.notify(payload);
  }

  /** Only the latest start of a run feeds, withdraws and stops. What workers change, and what is released for dead ones, is their own. */
  private compareStarts(tables: FakeTables, by: FleetLife): void {
    const before = this.tables;
    for (const { run, start, stop } of tables.runs) {
      const was = before.runs.find((one) => one['run'] === run);
      if (start !== (was?.['start'] ?? 0)) {
        this.latest.set(run, by);
        this.starters.add(by);
      }
      if (this.hasLost || !this.starters.has(by) || this.latest.get(run) === by) continue;
      const fedIn = ({ ledgers }: FakeTables) => ledgers.find((one) => one['run'] === run)?.['fed'];
      const isThere = ({ item }: Row) => tables.rows.some((row) => row['item'] === item);
      const waiting = before.rows.filter((row) => row['run'] === run && row['worker'] === null);
      if (fedIn(tables) !== fedIn(before) || stop !== was?.['stop'] || !waiting.every(isThere))
        this.broken.push('a start changes a run that a later one has taken over');
    }
  }

  private notify(payload: string): void {
    for (const client of this.clients) client.receive(payload);
  }

  run(text: string, values: readonly unknown[], tables: FakeTables): readonly Row[] {
    const statement = statements.find(([begin]) => text.startsWith(begin));
    if (statement === undefined) throw new Error(`the fake database does not know: ${text}`);
    return statement[1](tables, values as unknown as Values, this.now).map((row) => ({ ...row }));
  }
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

interface Answer {
  readonly rows: readonly Row[];
  readonly rowCount: number;
}

/** No value is above its cap, and each row has one: together they are the money of the run. */
function wrongValues({ valueLedgers }: FakeTables, { run, valueCaps }: Row, sum: number): string[] {
  if (typeof valueCaps !== 'string') return [];
  const [cap = 0] = Object.values(JSON.parse(valueCaps) as Record<string, number>);
  const values = valueLedgers.filter((row) => row['run'] === run);
  const taken = values.map((row) => row['taken'] as number);
  const all = taken.reduce((total, amount) => total + amount, 0);
  return [
    ...taken
      .filter((amount) => amount > Math.round(cap * 1e6))
      .map((amount) => `${amount} of a value under a cap of ${cap}`),
    ...taken.filter((amount) => amount < 0).map((amount) => `${amount} of a value`),
    ...(all === sum ? [] : [`${all} taken by values, of ${sum}`]),
  ];
}

/** Of one process: each statement is a call of it, and a process that dies leaves its transaction to be rolled back. */
class FakeClient extends EventEmitter {
  private transaction: { tables?: FakeTables; readonly notifications: string[] } | undefined;
  private channel: string | undefined;
  private isBroken = false;
  private hasFailed = false;
  private last: Promise<void> = Promise.resolve();
  private statements = 0;

  constructor(
    private readonly database: FakeDatabase,
    private readonly life: FleetLife,
  ) {
    super();
    // As the pool does.
    this.on('error', () => undefined);
    database.add(this);
    void life.died.then(() => this.break());
  }

  /** Rolls back; nobody is told before the next statement. */
  break(): void {
    this.isBroken = true;
    this.transaction = undefined;
    this.database.remove(this);
    if (this.channel !== undefined) void this.life.awake().then(() => this.emit('error', gone()));
  }

  release(): void {
    this.isBroken = true;
    this.transaction = undefined;
    this.database.remove(this);
  }

  receive(payload: string): void {
    const [channel, text] = payload.split('|');
    if (channel !== this.channel || this.isCut) return;
    this.database.clock.in(this.latency(), () => {
      if (!this.isBroken) void this.life.awake().then(() => this.emit('notification', { payload: text }));
    });
  }

  /** Statements are done in their order, without waiting for the answers before them. */
  query(what: string | Statement, given: readonly unknown[] = []): Promise<Answer> {
    const { text, values } = typeof what === 'string' ? { text: what, values: given } : what;
    const answer = this.last.then(() => this.answer(text, values));
    this.last = answer.then(
      () => undefined,
      () => undefined,
    );
    return answer;
  }

  private async answer(raw: string, values: readonly unknown[]): Promise<Answer> {
    const { life, database } = this;
    if (!life.step()) return new Promise(() => undefined);
    const number = ++this.statements;
    try {
      await this.pass();
      const { breaks, lostCommits } = database.weather;
      this.breakPerhaps(breaks);
      const rows = await this.executed(raw.replace(/\s+/g, ' ').trim(), values);
      this.breakPerhaps(raw === 'commit' ? lostCommits : breaks);
      await this.pass();
      this.breakWhenSilent(number);
      return { rows, rowCount: rows.length };
    } finally {
      // The error, too, reaches only a process that lives.
      await life.awake();
      if (database.isAway) this.break();
    }
  }

  /** Behind a statement that failed a transaction takes nothing but its end, and is not committed. */
  private async executed(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    if (this.hasFailed && text !== 'rollback' && text !== 'commit')
      throw new Error('current transaction is aborted');
    try {
      return await this.execute(this.hasFailed ? 'rollback' : text, values);
    } catch (error) {
      this.hasFailed = this.transaction !== undefined;
      throw error;
    }
  }

  private async execute(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const { database } = this;
    if (text === 'connect') return [];
    if (text.startsWith('listen')) this.channel = text.split(' ')[1];
    else if (text === 'begin') this.transaction = { notifications: [] };
    else if (text === 'rollback') this.end();
    else if (text === 'commit') this.commit();
    else if (text.startsWith('select pg_notify')) this.notify(`${text.split("'")[1]}|${String(values[0])}`);
    else if (this.transaction === undefined) return this.alone(text, values);
    else if (isShared(text)) return database.run(text, values, database.committed);
    else {
      await database.lock(this);
      this.transaction.tables ??= database.copy();
      return database.run(text, values, this.transaction.tables);
    }
    return [];
  }

  private async alone(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const { database } = this;
    if (text.startsWith('select') || isShared(text)) return database.run(text, values, database.committed);
    await database.lock(this);
    const tables = database.copy();
    const rows = database.run(text, values, tables);
    database.commit(tables, [], this.life);
    database.unlock(this);
    return rows;
  }

  private commit(): void {
    const { tables, notifications } = this.transaction ?? {};
    this.database.commit(tables ?? this.database.copy(), notifications ?? [], this.life);
    this.end();
  }

  private end(): void {
    this.transaction = undefined;
    this.hasFailed = false;
    this.database.unlock(this);
  }

  private notify(payload: string): void {
    if (this.transaction !== undefined) this.transaction.notifications.push(payload);
    else this.database.commit(this.database.copy(), [payload], this.life);
  }

  private get isCut(): boolean {
    return this.database.clock.now < this.life.cutUntil;
  }

  private latency(): number {
    return this.database.random() * this.database.weather.mostMs;
  }

  /** One way of the wire. */
  private async pass(): Promise<void> {
    const { clock } = this.database;
    await new Promise<void>((resolve) => clock.in(this.latency(), resolve));
    if (this.database.isAway || this.isCut) {
      this.break();
      // A connection that nothing comes from is given up.
      if (this.isCut) await new Promise<void>((resolve) => clock.in(10_000, resolve));
    }
    if (this.isBroken) throw gone();
  }

  private breakPerhaps(chance: number): void {
    if (this.database.random() >= chance) return;
    this.break();
    throw gone();
  }

  private breakWhenSilent(number: number): void {
    if (this.transaction === undefined) return;
    this.database.clock.in(silentMs, () => {
      if (this.transaction !== undefined && this.statements === number) this.break();
    });
  }
}

function gone(): Error {
  return new Error('Connection terminated unexpectedly');
}

const queue: RowQueue = {
  makeQueues: () => Promise.resolve(),
  put: async (on, run, place, items) => {
    if (items.length > 0) await ask(on, 'queue put', run, place, items);
  },
  deal: async (on, run, place, most) =>
    most < 1
      ? []
      : (await ask(on, 'queue deal', run, place, Math.floor(most))).map(({ item }) => item as string),
  clear: async (on, run) => {
    await ask(on, 'queue clear', run);
  },
  close: () => Promise.resolve(),
};

async function ask(
  on: Transaction,
  what: string,
  run: number,
  ...values: readonly [place: Place, value: unknown] | readonly []
): Promise<Row[]> {
  return (await on.query<Row>(what, [run, ...values])).rows;
}
