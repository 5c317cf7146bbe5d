import { describe, expect, it } from 'vitest';
import { playPersons } from '../../support/person.js';
import { PersonsFleet } from './persons-fleet.js';

describe('persons whose runs go over a database, and back', () => {
  const count = 40;

  it(`buy nothing twice without a question, lose nothing, and find the bill in their books, ${count} times`, async () => {
    expect(await playPersons(1, count, (random) => new PersonsFleet(random))).toEqual({});
  }, 3_600_000);
});
