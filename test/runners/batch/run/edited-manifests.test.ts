import { describe, expect, it } from 'vitest';
import { playPersons } from '../../../support/person.js';

describe('a manifest that is edited between the starts of a run', () => {
  const count = 20;

  it(`has nothing bought twice without a question, no row another one's answer, and the bill in its books, ${count} times`, async () => {
    expect(await playPersons(1, count)).toEqual({});
  }, 120_000);
});
