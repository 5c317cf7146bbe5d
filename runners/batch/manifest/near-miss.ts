import { fieldNames } from './rows/field-names.js';

/** Names of one or two letters' difference from ordinary words are too short to be sure of. */
const shortest = 5;

/**
 * The field that a column's name was probably meant for: the same but for case and separators (`Resolution`,
 * `aspect-ratio`), or one slip away (`promt`, `image`). `undefined` when the name is a field's own, or like none.
 */
export function nearMiss(name: string): string | undefined {
  const dot = name.indexOf('.');
  if (dot > 0) return nearPath(name.slice(0, dot), name.slice(dot));
  const plain = plainName(name);
  return fieldNames.find((field) => field !== name && isNear(plain, field));
}

function nearPath(root: string, rest: string): string | undefined {
  if (root === 'input' || root === 'body') return undefined;
  const meant = (['input', 'body'] as const).find((field) => isNear(plainName(root), field));
  return meant === undefined ? undefined : meant + rest;
}

function isNear(plain: string, field: string): boolean {
  const wanted = plainName(field);
  if (plain === wanted) return true;
  return wanted.length >= shortest && plain.length >= shortest - 1 && isOneSlipAway(plain, wanted);
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** One letter more, less or another, or two neighbours swapped. */
function isOneSlipAway(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const [restA, restB] = [a.slice(at), b.slice(at)];
  if (restA.slice(1) === restB.slice(1) || restA.slice(1) === restB || restA === restB.slice(1)) return true;
  return restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2);
}
