import { readFileSync, writeFileSync } from 'node:fs';

/** Columns are padded as prettier pads them. */
export function asTable([head, ...body]: readonly (readonly [string, string])[]): string {
  const widths = [0, 1].map((column) => Math.max(...[head!, ...body].map((row) => row[column]!.length)));
  const line = (cells: readonly string[], fill: string): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!, fill)).join(' | ')} |`;
  return [line(head!, ' '), line(['', ''], '-'), ...body.map((row) => line(row, ' '))].join('\n');
}

/** Puts a table into src/README.md, between the markers of that name. */
export function writeTable(name: string, text: string): void {
  const map = 'src/README.md';
  const before = readFileSync(map, 'utf8');
  const between = new RegExp(`(<!-- ${name} -->\\n)[^]*?(\\n<!-- /${name} -->)`);
  const after = before.replace(between, `$1\n${text}\n$2`);
  if (after === before && !before.includes(text)) throw new Error(`${map} has no <!-- ${name} --> markers`);
  writeFileSync(map, after);
}
