import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeRecord, field } from '../../../../../runners/batch/journal/line/record-line.js';
import { HeadScanner } from '../../../../../runners/batch/journal/line/head-scanner.js';
import { IdHash } from '../../../../../runners/batch/manifest/duplicates/id-hash.js';
import type { JournalRecord } from '../../../../../runners/batch/journal/record.js';
import {
  completed,
  failed,
  intent,
  refused,
  reopen,
  reply,
  wholeLife,
} from '../../../../support/sample-records.js';

const head = new HeadScanner();

function scan(record: JournalRecord, n = 1): boolean {
  const line = encodeRecord(n, record);
  // Other bytes around it, as in the buffer of a file.
  const bytes = Buffer.concat([Buffer.from('before\n'), line, Buffer.from('"after"')]);
  return head.scan(bytes, 7, 7 + line.length - 1);
}

describe('HeadScanner', () => {
  it('finds the number and the kind of every record', () => {
    wholeLife().forEach((record, index) => {
      expect(scan(record, index + 1)).toBe(true);
      expect([head.number(field.n), head.word(field.k)]).toEqual([index + 1, record.k]);
      expect(head.hasId).toBe('id' in record);
    });
  });

  it('reads an intent', () => {
    scan(intent('a', { row: 1_234_567, attempt: 3, price: 130_000, resolution: '2k', takes: 'picture' }));
    expect([field.row, field.attempt, field.price].map((place) => head.number(place))).toEqual([
      1_234_567, 3, 130_000,
    ]);
    expect(
      [field.hash, field.kind, field.endpoint, field.resolution, field.takes].map((place) =>
        head.word(place),
      ),
    ).toEqual([...['0123456789abcdef01234567', 'edit', 'image-edit', '2k', 'picture']]);
  });

  it('reads an outcome, the code of its error included', () => {
    scan(failed('a', 'job-failed', { cost: 0.5 }));
    expect([head.word(field.status), head.word(field.code), head.word(field.source)]).toEqual([
      'failed',
      'job-failed',
      'none',
    ]);
    expect(head.number(field.cost)).toBe(0.5);
    scan(completed('a'));
    expect([head.word(field.status), head.word(field.code)]).toEqual(['completed', '']);
  });

  it('tells a null and a missing number from 0', () => {
    scan(intent('a', { price: null }));
    expect(head.number(field.price)).toBeNaN();
    expect(head.number(field.cost)).toBeNaN();
    scan(intent('a', { price: 0 }));
    expect(head.number(field.price)).toBe(0);
  });

  it('forgets the record before', () => {
    scan(intent('a', { resolution: '4k' }));
    scan(reopen('a', 'poll'));
    expect([head.word(field.resolution), head.word(field.to), head.word(field.why)]).toEqual([
      '',
      'poll',
      'retry',
    ]);
  });

  it('reads records of all kinds in any order as a scanner of their own would', () => {
    const records = fc.constantFrom<JournalRecord>(
      ...wholeLife(),
      intent('"ä\\', { price: null, takes: 'job' }),
      failed('b', 'unknown', { cost: 7 }),
      reopen('b', 'poll'),
      refused('c'),
    );
    const all = Object.values(field);
    const read = (scanner: HeadScanner, line: Buffer): unknown => {
      expect(scanner.scan(line, 0, line.length)).toBe(true);
      const { high, low } = scanner.id;
      const values = all.map((place) => [scanner.word(place), scanner.number(place), scanner.bits(place)]);
      return [scanner.hasId && [high, low], values];
    };
    fc.assert(
      fc.property(fc.array(records), (list) => {
        const used = new HeadScanner();
        for (const record of list) {
          const line = encodeRecord(1, record).subarray(0, -1);
          expect(read(used, line)).toEqual(read(new HeadScanner(), line));
          expect(used.line).toEqual(line);
        }
      }),
    );
  });

  it('reads of an answer no more than what recovery needs', () => {
    scan(reply('a', { cost: 5, source: 'reported', statusCalls: 3 }));
    expect([head.number(field.cost), head.word(field.source)]).toEqual([5, 'reported']);
    expect(head.number(field.statusCalls)).toBeNaN();
  });

  it('gives a word of a list as it stands there, and any other as it is', () => {
    scan(completed('a'));
    expect(head.word(field.source, ['none', 'reported'])).toBe('reported');
    expect(head.word(field.source, ['none'])).toBe('reported');
  });

  it('is not led astray by what a row holds', () => {
    const text = '","k":"stop","price":1,"id":"b","error":{"code":"x"}\\';
    scan(intent(text, { hash: 'ffff', request: { kind: 'job', input: { price: 5, text } }, price: 7 }));
    expect([head.word(field.k), head.number(field.price), head.word(field.hash)]).toEqual([
      'intent',
      7,
      'ffff',
    ]);
  });

  it('hashes any id as its text is hashed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (id) => {
        scan(intent(id));
        const { high, low } = new IdHash().ofText(id);
        expect([head.id.high, head.id.low]).toEqual([high, low]);
      }),
    );
  });

  it('agrees with a parser on any numbers', () => {
    const numbers = fc.oneof(
      fc.nat(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constant(1e21),
      fc.constant(-1),
    );
    fc.assert(
      fc.property(numbers, (cost) => {
        scan(completed('a', { cost }));
        expect(head.number(field.cost)).toBe(JSON.parse(JSON.stringify(cost)));
      }),
    );
  });

  it.each(['{}', '{"k":"stop"}', '[1]', '"text"', '{"n":1', '{"n', '{"n":1,"k":"stop', '', '{', '{"a\\'])(
    'finds no record in %s',
    (text) => {
      const bytes = Buffer.from(text);
      const found = head.scan(bytes, 0, bytes.length);
      expect(found && text.endsWith('}')).toBe(false);
    },
  );
});
