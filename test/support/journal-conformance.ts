import { firstValueFrom, lastValueFrom, merge, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../../runners/batch/journal/journal.js';
import { JournalError } from '../../runners/batch/journal/journal-error.js';
import type { JournalRecord } from '../../runners/batch/journal/record.js';
import type { RowRecord } from '../../runners/batch/row/record-head.js';
import { accepted, completed, failed, intent, refused, reply } from './sample-records.js';

/** What another process does with a row, once the one that wrote its records is dead. */
export type GoesOn =
  | { readonly what: 'send'; readonly attempts: number }
  | { readonly what: 'poll'; readonly jobId: string; readonly attempts: number }
  /** It ends with these records: nobody knows whether it was bought. */
  | { readonly what: 'hold'; readonly records: readonly string[] }
  | { readonly what: 'save the picture' }
  | { readonly what: 'nothing' };

/** A journal with a medium that can be broken. The rows `a`, `b` and `c` may be written. */
export interface JournalUnderTest {
  readonly journal: Pick<Journal, 'append' | 'records' | 'close'>;
  /** How many records its medium has before. */
  readonly before: number;
  /** From the next write on the medium fails for good. */
  breakMedium(): Promise<void>;
  /** What a process finds that opens it after this one has died. */
  afterDeath(): Promise<readonly JournalRecord[]>;
  /** What a process does next with row `a`, once this one is dead. */
  goesOn(): Promise<GoesOn>;
  /** The process dies at this step of writing the next group: bytes of a file, statements of a transaction. */
  dieAt(step: number): Promise<void>;
  /** Whether it died: the group had so many steps. */
  hasDied(): boolean;
  /** The journal as the next process has it, once this one is dead. */
  nextProcess(): Promise<Pick<Journal, 'append'>>;
  close(): Promise<void>;
}

const again = intent('a', { attempt: 2 });
const read = { kind: 'route', request: { kind: 'route', method: 'GET', route: '/info' } } as const;
/** Where a process may die, and what is to follow. */
const deaths: readonly { readonly records: readonly RowRecord[]; readonly goesOn: GoesOn }[] = [
  { records: [intent('a')], goesOn: { what: 'hold', records: ['outcome unknown'] } },
  { records: [intent('a', read)], goesOn: { what: 'send', attempts: 1 } },
  { records: [intent('a'), refused('a')], goesOn: { what: 'send', attempts: 1 } },
  { records: [intent('a'), refused('a'), again], goesOn: { what: 'hold', records: ['outcome unknown'] } },
  {
    records: [intent('a'), accepted('a')],
    goesOn: { what: 'poll', jobId: 'job-a', attempts: 1 },
  },
  {
    records: [intent('a'), refused('a'), again, accepted('a')],
    goesOn: { what: 'poll', jobId: 'job-a', attempts: 2 },
  },
  { records: [intent('a'), accepted('a'), reply('a')], goesOn: { what: 'save the picture' } },
  {
    records: [intent('a'), accepted('a'), reply('a'), completed('a')],
    goesOn: { what: 'nothing' },
  },
  { records: [intent('a'), accepted('a'), failed('a', 'job-failed')], goesOn: { what: 'nothing' } },
];

/** All of row `a` in one group, and what follows from each beginning of it. */
const whole: readonly RowRecord[] = [
  ...[intent('a'), refused('a'), again, accepted('a'), reply('a'), completed('a')],
];
const beginnings: readonly GoesOn[] = [
  { what: 'send', attempts: 0 },
  { what: 'hold', records: ['outcome unknown'] },
  { what: 'send', attempts: 1 },
  { what: 'hold', records: ['outcome unknown'] },
  { what: 'poll', jobId: 'job-a', attempts: 2 },
  { what: 'save the picture' },
  { what: 'nothing' },
];

export function endsOf(records: readonly JournalRecord[]): string[] {
  return records.map((record) =>
    record.k === 'outcome' && record.status === 'failed' ? `outcome ${record.error.code}` : record.k,
  );
}

/** What every journal keeps to, whatever it lies in. */
export function conformsToJournal(name: string, open: () => Promise<JournalUnderTest>): void {
  describe(`a journal in ${name}`, () => {
    let under: JournalUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.close());
    const life: readonly RowRecord[] = [
      ...[intent('a'), intent('b'), refused('b'), accepted('a'), intent('b', { attempt: 2 })],
      ...[reply('a'), completed('a')],
    ];
    const append = (...records: readonly JournalRecord[]) =>
      lastValueFrom(merge(...records.map((record) => under.journal.append(record))).pipe(toArray()));
    const all = async (after = 0): Promise<JournalRecord[]> => {
      const found: JournalRecord[] = [];
      for await (const record of under.journal.records(after)) found.push(record);
      return found;
    };

    it('keeps records in the order of subscription, and numbers them without a gap', async () => {
      const numbers = await append(...life);
      expect(numbers).toEqual(life.map((_, index) => under.before + index + 1));
      expect(await all(under.before)).toEqual(life);
      expect(await under.afterDeath()).toEqual(life);
    });

    it('appends what comes during a write behind it', async () => {
      const first = append(life[0]!);
      const second = append(...life.slice(1, 4));
      expect([...(await first), ...(await second)]).toEqual([1, 2, 3, 4].map((n) => under.before + n));
      expect(await all(under.before)).toEqual(life.slice(0, 4));
    });

    it('appends a record once, however often it is subscribed, and takes nothing back', async () => {
      const appended = under.journal.append(life[0]!);
      appended.subscribe().unsubscribe();
      expect(await firstValueFrom(appended)).toBe(under.before + 1);
      expect(await firstValueFrom(appended)).toBe(under.before + 1);
      expect(await all(under.before)).toHaveLength(1);
    });

    it('has what it reported as durable after its death, and reads behind a position', async () => {
      await append(...life.slice(0, 3));
      await append(...life.slice(3, 5));
      expect(await under.afterDeath()).toEqual(life.slice(0, 5));
      expect(await all(under.before + 2)).toEqual(life.slice(2, 5));
      expect(await all(under.before + 5)).toEqual([]);
    });

    it.each(deaths)(
      'says what follows from a death behind $records.length records: $goesOn.what',
      async (death) => {
        await append(...death.records);
        await under.journal.close();
        expect(await under.goesOn()).toEqual(death.goesOn);
      },
    );

    it('has whole records alone after a death within a group, and goes on by them', async () => {
      const found = new Set<number>();
      for (let step = 0, hasDied = true; hasDied; step++) {
        const torn = await open();
        const numbers = [intent('b'), accepted('b')].map((record) => torn.journal.append(record));
        await lastValueFrom(merge(...numbers));
        await torn.dieAt(step);
        await Promise.allSettled(whole.map((record) => firstValueFrom(torn.journal.append(record))));
        hasDied = torn.hasDied();
        const records = await torn.afterDeath();
        expect(records).toEqual([intent('b'), accepted('b'), ...whole].slice(0, records.length));
        const left = records.length - 2;
        found.add(left);
        expect(left, `at step ${step}`).toBeGreaterThanOrEqual(hasDied ? 0 : whole.length);
        expect(await torn.goesOn(), `at step ${step}`).toEqual(beginnings[left]);
        await torn.close();
      }
      expect([...found]).toContain(0);
      expect([...found]).toContain(whole.length);
    }, 60_000);

    it('is gone on with by the next process, behind what the one before has written', async () => {
      await append(intent('a'), accepted('a'));
      const next = await under.nextProcess();
      const records = [reply('a'), completed('a')];
      const numbers = await lastValueFrom(merge(...records.map((one) => next.append(one))).pipe(toArray()));
      expect(numbers).toEqual([3, 4].map((number) => under.before + number));
      expect(await under.afterDeath()).toEqual([intent('a'), accepted('a'), ...records]);
    });

    it('refuses a record that is no JSON by itself, and goes on with the others', async () => {
      const cyclic: Record<string, unknown> = {};
      cyclic['self'] = cyclic;
      const unfit = firstValueFrom(under.journal.append(reply('a', { output: cyclic })));
      const numbers = append(life[0]!);
      await expect(unfit).rejects.toMatchObject({ code: 'unfit-record' });
      expect(await numbers).toEqual([under.before + 1]);
    });

    it('reports nothing as durable that is not, and takes nothing more once its medium has failed', async () => {
      await append(life[0]!);
      await under.breakMedium();
      const group = life.slice(1, 3).map((record) => firstValueFrom(under.journal.append(record)));
      for (const { status } of await Promise.allSettled(group)) expect(status).toBe('rejected');
      await expect(firstValueFrom(under.journal.append(life[3]!))).rejects.toBeInstanceOf(JournalError);
      const found = await under.afterDeath();
      expect(found).toEqual(life.slice(0, found.length));
      expect(found.length).toBeGreaterThanOrEqual(1);
    });

    it('writes what is queued before it closes, and nothing afterwards', async () => {
      const queued = append(...life.slice(0, 2));
      await under.journal.close();
      expect(await queued).toHaveLength(2);
      await expect(firstValueFrom(under.journal.append(life[2]!))).rejects.toBeInstanceOf(JournalError);
      expect(await under.afterDeath()).toEqual(life.slice(0, 2));
    });
  });
}
