import { InvalidOptionError } from './millrace-error.js';

/** The kinds of numbers, as errors name them. */
const numbers = {
  number: (value: number) => !Number.isNaN(value),
  'number from 0 on': (value: number) => value >= 0,
  'number from 1 on': (value: number) => value >= 1,
  'number above 0': (value: number) => value > 0,
  'finite number above 0': (value: number) => value > 0 && value < Infinity,
  'whole number from 1': (value: number) => Number.isInteger(value) && value >= 1,
} as const;

/** Accepts only a number, not a numeric string or `null`. @throws InvalidOptionError */
export function checkNumber(option: string, value: unknown, kind: keyof typeof numbers): void {
  if (typeof value !== 'number' || !numbers[kind](value)) throw notA(option, kind, value);
}

/** @throws InvalidOptionError */
export function checkText(option: string, value: unknown): void {
  if (typeof value !== 'string') throw notA(option, 'string', value);
}

/** @throws InvalidOptionError */
export function checkFunction(option: string, value: unknown): void {
  if (typeof value !== 'function') throw notA(option, 'function', value);
}

/** Accepts an object, or a function, that has all of these members. @throws InvalidOptionError */
export function checkMembers(
  option: string,
  value: unknown,
  kind: string,
  members: readonly PropertyKey[],
): void {
  if (!isObject(value) || !members.every((member) => member in value)) throw notA(option, kind, value);
}

/** Refuses `null` too. @throws InvalidOptionError */
export function checkObject(options: unknown): void {
  if (!isObject(options)) throw notA('options', 'object', options);
}

/** Refuses unknown names, because a misspelt one would silently have no effect. @throws InvalidOptionError */
export function checkNames(options: object, of: string, names: readonly string[]): void {
  checkObject(options);
  const unknown = unknownName(options, of, names);
  if (unknown !== undefined) throw new InvalidOptionError(unknown.name, unknown.problem);
}

/** The first name that is not one of `names`, with what is wrong with it. */
export function unknownName(
  options: object,
  of: string,
  names: readonly string[],
): { readonly name: string; readonly problem: string } | undefined {
  for (const name in options)
    if (!names.includes(name)) return { name, problem: `is not an option of ${of}: ${names.join(', ')}` };
  return undefined;
}

/** Also true for an object of another realm, such as a `vm`, which has its own `Object`. */
export function isObject(value: unknown): value is object {
  return Object(value) === value;
}

export function notA(option: string, kind: string, value: unknown): InvalidOptionError {
  const article = /^[aeiou]/i.test(kind) ? 'an' : 'a';
  return new InvalidOptionError(option, `is not ${article} ${kind} (got ${shown(value)})`);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return isObject(value) ? typeof value : String(value);
}
