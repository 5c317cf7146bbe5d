/**
 * `npm run shape`: measures the source code of src and runners (files, functions, imports, folders) and prints a table.
 * `npm run shape -- --write` also puts the table into src/README.md, between the markers of its section "Shape".
 */
import { argv } from 'node:process';
import { asTable, writeTable } from './shape-table.js';
import { measureShape, type Shape } from './shape-of.js';

/** A share of the files in percent, rounded. */
function share(part: number, shape: Shape): string {
  return `${Math.round((100 * part) / shape.files)} %`;
}

const shape = measureShape(['src', 'runners'], 'runners/cli/main.ts');
const rows: [what: string, is: string][] = [
  ['files', `${shape.files}`],
  ['lines', `${shape.lines}`],
  ['lines a file: median / 90th percentile / most', shape.fileLines.join(' / ')],
  ['lines a function: median / 90th percentile / most', shape.functionLines.join(' / ')],
  ['files under 25 lines', share(shape.small.length, shape)],
  ['files that one other file imports', share(shape.oneImporter.length, shape)],
  ['longest chain of imports from the command line, at run time', `${shape.depth.runTime.length}`],
  ['the same, imports of types included', `${shape.depth.withTypes.length}`],
  [
    'most files in one folder, `src/contract` apart',
    `${shape.largestFolder.files} (${shape.largestFolder.path})`,
  ],
  ['base names that stand twice', shape.twice.join(', ') || 'none'],
];
const table = asTable([['what', 'measured'], ...rows]);
console.log(table);
if (argv.includes('--chain')) {
  console.log(`At run time:\n${shape.depth.runTime.join('\n')}`);
  console.log(`With imports of types:\n${shape.depth.withTypes.join('\n')}`);
}
if (argv.includes('--small')) console.log(shape.small.join('\n'));
if (argv.includes('--one-importer')) console.log(shape.oneImporter.join('\n'));
if (argv.includes('--write')) writeTable('shape', table);
