import { describe, expect, it } from 'vitest';
import { playPersons } from '../support/person.js';
import { playManyRuns } from './person-of-many-runs.js';

describe('persons who edit, start, stop, kill and settle their runs', () => {
  const count = 70;

  it(`buy nothing twice without a question, lose nothing, and find the bill in their books, ${count} times`, async () => {
    expect(await playPersons(1_001, count)).toEqual({});
  }, 3_600_000);
});

describe('persons with several runs, whose folders are moved, copied and restored, while days pass', () => {
  const count = 30;

  it(`buy nothing twice without a question, and pay no more than the cap of a day, ${count} times`, async () => {
    expect(await playManyRuns(1, count)).toEqual({});
  }, 3_600_000);
});
