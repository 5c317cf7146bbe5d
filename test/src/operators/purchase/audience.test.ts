import { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Audience } from '../../../../src/operators/purchase/audience.js';

const seat = (audience: Audience<string>, heard: string[], hear: (value: string) => void = () => undefined) =>
  new Observable<string>((subscriber) => audience.join(subscriber)).subscribe({
    next: (value) => {
      heard.push(value);
      hear(value);
    },
    error: (error: unknown) => heard.push(`error ${String(error)}`),
    complete: () => heard.push('end'),
  });

describe('Audience', () => {
  it('tells all who are there of what comes after them, and nobody who has left', () => {
    const audience = new Audience<string>();
    const first: string[] = [];
    const second: string[] = [];
    const one = seat(audience, first);
    audience.next('a');
    seat(audience, second);
    audience.next('b');
    one.unsubscribe();
    audience.next('c');
    audience.complete();
    expect({ first, second }).toStrictEqual({ first: ['a', 'b'], second: ['b', 'c', 'end'] });
  });

  it('tells its end to who comes later, and an error as one', () => {
    const ended: string[] = [];
    const failed: string[] = [];
    const over = new Audience<string>();
    over.complete();
    seat(over, ended);
    const broken = new Audience<string>();
    broken.error('why');
    seat(broken, failed);
    expect({ ended, failed }).toStrictEqual({ ended: ['end'], failed: ['error why'] });
  });

  it('is told of a value as it stood when the value came, whoever joins or leaves meanwhile', () => {
    const audience = new Audience<string>();
    const first: string[] = [];
    const second: string[] = [];
    const late: string[] = [];
    seat(audience, first, (value) => {
      if (value !== 'a') return;
      other.unsubscribe();
      seat(audience, late);
    });
    const other = seat(audience, second);
    audience.next('a');
    audience.next('b');
    expect({ first, second, late }).toStrictEqual({ first: ['a', 'b'], second: [], late: ['b'] });
  });
});
