import { describe, expect, it } from 'vitest';
import { playPersons } from '../support/person.js';

describe('persons who edit, start, stop, kill and settle their runs', () => {
  const count = 200;

  it(`buy nothing twice without a question, lose nothing, and find the bill in their books, ${count} times`, async () => {
    expect(await playPersons(1_001, count)).toEqual({});
  }, 3_600_000);
});
