import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as rxjs from 'rxjs';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as millrace from 'millrace';
import * as batch from 'millrace/batch';
import { until } from '../support/until.js';
import * as scope from './example-scope.js';
import { findExamples } from './find-examples.js';

const root = new URL('../../', import.meta.url);
const folder = new URL(`out/examples-${process.pid}/`, root);
const examples = findExamples(root);
const fileOf = (index: number) => fileURLToPath(new URL(`example-${index}.ts`, folder));
/** Names that an example may use without an import, by where they come from. */
const offered = { '../../test/docs/example-scope.js': scope, millrace, 'millrace/batch': batch, rxjs };

/** The example as a file of its own: with imports of what it leaves to the reader. */
function moduleOf(code: string): string {
  const source = ts.createSourceFile('x.ts', code, ts.ScriptTarget.Latest, true);
  const own = new Set<string>();
  const used = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isImportSpecifier(node) || ts.isVariableDeclaration(node)) names(node.name, own);
    else if (ts.isIdentifier(node) && !isProperty(node)) used.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  const imports = Object.entries(offered).map(([from, names]) => {
    const taken = Object.keys(names).filter((name) => used.has(name) && !own.has(name));
    for (const name of taken) own.add(name);
    return taken.length === 0 ? '' : `import { ${taken.join(', ')} } from '${from}';`;
  });
  return [...imports, code, 'export {};'].filter((line) => line !== '').join('\n');
}

function names(name: ts.BindingName, into: Set<string>): void {
  if (ts.isIdentifier(name)) into.add(name.text);
  else for (const element of name.elements) if (ts.isBindingElement(element)) names(element.name, into);
}

function isProperty(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
    (ts.isPropertyAssignment(parent) && parent.name === node)
  );
}

describe('the examples of the documentation', () => {
  beforeAll(() => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(new URL('edits.csv', folder), 'id,endpoint,input.text\na,echo,hello\n');
    examples.forEach(({ code }, index) => writeFileSync(fileOf(index), moduleOf(code)));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await scope.emulator.close();
  });

  it('are found in every README and in the sources', () => {
    const places = examples.map(({ name }) => name.replace(/:\d+$/, ''));
    expect(places).toContain('README.md');
    expect(places).toContain('runners/emulator/README.md');
    expect(places.filter((name) => name.startsWith('src/')).length).toBeGreaterThan(10);
  });

  it('are sound TypeScript', () => {
    const { config } = ts.readConfigFile(fileURLToPath(new URL('tsconfig.json', root)), ts.sys.readFile);
    const { options } = ts.convertCompilerOptionsFromJson(
      { ...config.compilerOptions, noUnusedLocals: false, incremental: false, tsBuildInfoFile: undefined },
      fileURLToPath(root),
    );
    const program = ts.createProgram(
      examples.map((_, index) => fileOf(index)),
      options,
    );
    const problems = examples.flatMap(({ name }, index) =>
      ts
        .getPreEmitDiagnostics(program, program.getSourceFile(fileOf(index)))
        .map(({ messageText }) => `${name}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`),
    );
    expect(problems).toStrictEqual([]);
  }, 120_000);

  it.each(examples.map(({ name }, index) => [name, index] as const))('%s runs', async (_, index) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const before = scope.emulator.bill().length;
    const local = examples[index]!.code.replaceAll('https://api.example.com', scope.baseUrl).replaceAll(
      /'edits\.(csv|out)'/g,
      (path) => `'${fileURLToPath(new URL(path.slice(1, -1), folder))}'`,
    );
    writeFileSync(fileOf(index), moduleOf(local));
    await import(fileOf(index));
    const sent = () => scope.emulator.bill().slice(before);
    await until(() => sent().every(({ status }) => !['IN_QUEUE', 'IN_PROGRESS'].includes(status)));
    expect(sent().filter(({ status }) => status !== 'COMPLETED')).toStrictEqual([]);
    log.mockRestore();
  });
});
