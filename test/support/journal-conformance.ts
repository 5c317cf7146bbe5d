import { firstValueFrom, lastValueFrom, merge, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../../runners/batch/journal/journal.js';
import { JournalError } from '../../runners/batch/journal/journal-error.js';
import type { JournalRecord } from '../../runners/batch/journal/record.js';
import type { RowRecord } from '../../runners/batch/row/record-head.js';
import { accepted, completed, intent, refused, reply } from './sample-records.js';

/** A journal with a medium that can be broken. The rows `a`, `b` and `c` may be written. */
export interface JournalUnderTest {
  readonly journal: Pick<Journal, 'append' | 'records' | 'close'>;
  /** How many records its medium has before. */
  readonly before: number;
  /** From the next write on the medium fails for good. */
  breakMedium(): Promise<void>;
  /** What a process finds that opens it after this one has died. */
  afterDeath(): Promise<readonly JournalRecord[]>;
  close(): Promise<void>;
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
