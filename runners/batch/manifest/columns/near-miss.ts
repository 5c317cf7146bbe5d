/**
 * The field that a column was probably meant for: the name differs only in case and separators (`Resolution`, `aspect-ratio`),
 * or by one or two typing slips (`promt`, `image`, `resulotion`). `undefined` if it is the name of a field, or similar to none.
 *
 * @param fields the fields that it may be meant for; `input` and `body` include the columns below them
 */
export function nearMiss(name: string, fields: readonly string[]): string | undefined {
  const dot = name.indexOf('.');
  if (dot > 0) return nearPath(name.slice(0, dot), name.slice(dot), fields);
  const plain = plainName(name);
  return fields.find((field) => field !== name && isNear(plain, plainName(field)));
}

function nearPath(root: string, rest: string, fields: readonly string[]): string | undefined {
  if (root === 'input' || root === 'body') return undefined;
  const meant = ['input', 'body'].find((field) => fields.includes(field) && isNear(plainName(root), field));
  return meant === undefined ? undefined : meant + rest;
}

function isNear(plain: string, wanted: string): boolean {
  if (plain === wanted) return true;
  // Short names get fewer slips, because ordinary words are only one or two letters away.
  const allowed = wanted.length < 5 ? 0 : wanted.length < 10 ? 1 : 2;
  if (Math.abs(plain.length - wanted.length) > allowed || plain.length < 4) return false;
  const slips = slipsBetween(plain, wanted);
  return slips === 1 ? allowed > 0 : slips <= allowed && plain[0] === wanted[0];
}

/** `ï»¿` is a byte order mark that was read in another encoding. */
function plainName(name: string): string {
  return name
    .replace(/^\ufeff?ï»¿/, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** The number of added, missing, wrong or swapped letters: the optimal string alignment distance. */
function slipsBetween(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const other = a[i - 1] === b[j - 1] ? 0 : 1;
      let slips = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + other);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        slips = Math.min(slips, (before[j - 2] ?? 0) + 1);
      row.push(slips);
    }
    [before, last] = [last, row];
  }
  return last.at(-1) ?? 0;
}
