import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RowStates } from '../../../../runners/batch/journal/rows/row-states.js';
import { IdBook } from '../../../../runners/batch/manifest/duplicates/id-book.js';
import { KnownIds } from '../../../../runners/batch/tasks/read-rows.js';

describe('KnownIds', () => {
  it('says the same as a book of its own, whichever ids the journal knows', () => {
    const id = fc.constantFrom('a', 'A', 'b', '0123456789ab', '0123456789ab-2', 'é');
    const given = fc.array(fc.record({ id, derived: fc.boolean() }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(id), given, (known, rows) => {
        const states = new RowStates();
        for (const one of known) states.set(one, { status: 'completed' });
        const [ids, book] = [new KnownIds(states), new IdBook()];
        rows.forEach((row, at) => {
          const line = 3 * at + 2;
          if (row.derived)
            expect(ids.derive('0123456789abcdef', line)).toEqual(book.derive('0123456789abcdef', line));
          else expect(ids.claim(row.id, line)).toBe(book.claim(row.id, line));
        });
      }),
    );
  });
});
