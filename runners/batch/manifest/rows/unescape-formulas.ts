const escaped = /^'[-=+@\t\r\uff1d\uff0b\uff0d\uff20]/;

/**
 * Takes off the apostrophes that failures.csv has before what a spreadsheet would take for a formula, so that its rows
 * are sent as they were.
 */
export function unescapeFormulas(values: readonly unknown[]): unknown[] {
  return values.map((value) => (typeof value === 'string' && escaped.test(value) ? value.slice(1) : value));
}
