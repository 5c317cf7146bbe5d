import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { failureCodes } from '../../../src/contract/failure-code.js';

const root = new URL('../../../', import.meta.url);
const text = readFileSync(new URL('src/contract/README.md', root), 'utf8');

/** The rows of the table below a heading, cell by cell. */
function tableUnder(heading: string): string[][] {
  const section = text.split(/^## /m).find((part) => part.startsWith(heading))!;
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
const bare = (cell: string) => cell.replaceAll('`', '');

/** Every code that an error is made with, anywhere in the sources. */
function codesInSources(): Set<string> {
  const codes = new Set<string>();
  const files = ['src', 'runners'].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(new URL(`${folder}/${path}`, root), 'utf8')),
  );
  const parsed = files
    .filter((source) => /new \w*(Error|Fault)\(|extends \w*(Error|Fault)\b/.test(source))
    .map((source) => ts.createSourceFile('x.ts', source, ts.ScriptTarget.Latest, true));
  const classes = errorClasses(parsed);
  const collect = (argument: ts.Expression | undefined) => {
    if (argument === undefined) return;
    if (ts.isStringLiteral(argument)) codes.add(argument.text);
    if (ts.isConditionalExpression(argument)) [argument.whenTrue, argument.whenFalse].forEach(collect);
  };
  const visit = (node: ts.Node, owner: string | undefined): void => {
    const inside = ts.isClassDeclaration(node) ? node.name?.text : owner;
    if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && classes.has(node.expression.text)) {
      if (classes.get(node.expression.text) === true) collect(node.arguments?.[0]);
    } else if (
      ts.isCallExpression(node) &&
      node.expression.kind === ts.SyntaxKind.SuperKeyword &&
      classes.has(inside ?? '')
    )
      collect(node.arguments[0]);
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  for (const source of parsed) visit(source, undefined);
  return codes;
}

/** Errors of millrace by class, and whether their constructor is given the code first. */
function errorClasses(sources: readonly ts.SourceFile[]): Map<string, boolean> {
  const classes = new Map([['MillraceError', true]]);
  for (let known = 0; known !== classes.size;) {
    known = classes.size;
    for (const source of sources)
      for (const node of source.statements) {
        if (!ts.isClassDeclaration(node) || node.name === undefined) continue;
        const base = node.heritageClauses?.[0]?.types[0]?.expression.getText();
        if (base === undefined || !classes.has(base)) continue;
        const made = node.members.find(ts.isConstructorDeclaration);
        const isGiven =
          made === undefined ? classes.get(base)! : made.parameters[0]?.name.getText() === 'code';
        classes.set(node.name.text, isGiven);
      }
  }
  return classes;
}

describe('the table of codes', () => {
  it('has every failure code with what it says of the money, and no other', () => {
    const rows = tableUnder('How a job or a row ends').map(([code, paid, meaning]) => [
      bare(code!),
      paid,
      meaning,
    ]);
    const facts = Object.entries(failureCodes).map(([code, { paid, meaning }]) => [code, paid, meaning]);
    expect(rows).toStrictEqual(facts);
  });

  it('has every code of an error, and no other', () => {
    const rows = tableUnder('What is thrown').map(([code]) => bare(code!));
    expect(rows).toStrictEqual([...new Set(rows)]);
    expect([...rows].sort()).toStrictEqual([...codesInSources()].sort());
  });

  it('says of each what to do', () => {
    for (const cells of [...tableUnder('How a job or a row ends'), ...tableUnder('What is thrown')])
      expect(cells.every((cell) => cell !== '')).toBe(true);
  });
});
