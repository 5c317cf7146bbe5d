import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';

/** What the source code looks like in figures. Paths are relative to the project's folder. */
export interface Shape {
  readonly files: number;
  readonly lines: number;
  /** Median, 90th percentile, most. */
  readonly fileLines: readonly number[];
  readonly functionLines: readonly number[];
  /** Files under 25 lines. */
  readonly small: readonly string[];
  /** Files that exactly one other file imports. */
  readonly oneImporter: readonly string[];
  /** The longest chains of imports from the entry. */
  readonly depth: { readonly runTime: readonly string[]; readonly withTypes: readonly string[] };
  readonly largestFolder: { readonly path: string; readonly files: number };
  /** Base names of more than one file, `index` and `main` apart. */
  readonly twice: readonly string[];
}

interface SourceFile {
  readonly path: string;
  readonly lines: number;
  readonly functions: readonly number[];
  /** Files of the project that it imports, with whether only types are imported. */
  readonly imports: ReadonlyMap<string, { isTypeOnly: boolean }>;
}

/**
 * @param folders relative to `root`
 * @param entry where the chains of imports begin
 */
export function measureShape(folders: readonly string[], entry: string, root = '.'): Shape {
  const paths = folders.flatMap((folder) => sourcesBelow(root, folder));
  const files = new Map(paths.map((path) => [path, readSource(root, path)]));
  const all = [...files.values()];
  const importers = new Map<string, number>();
  for (const { imports } of all)
    for (const path of imports.keys()) importers.set(path, (importers.get(path) ?? 0) + 1);
  return {
    files: all.length,
    lines: all.reduce((sum, { lines }) => sum + lines, 0),
    fileLines: spread(all.map(({ lines }) => lines)),
    functionLines: spread(all.flatMap(({ functions }) => functions)),
    small: paths.filter((path) => files.get(path)!.lines < 25),
    oneImporter: paths.filter((path) => importers.get(path) === 1),
    depth: {
      runTime: longestChain(files, entry, false),
      withTypes: longestChain(files, entry, true),
    },
    largestFolder: largestFolder(paths),
    twice: namesTwice(paths),
  };
}

function sourcesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => join(folder, name))
    .toSorted();
}

function readSource(root: string, path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const functions: number[] = [];
  const imports = new Map<string, { isTypeOnly: boolean }>();
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined)
      functions.push(lineOf(source, node.getEnd()) - lineOf(source, node.getStart()) + 1);
    noteImport(node, path, imports);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { path, lines: text.split('\n').length - 1, functions, imports };
}

function lineOf(source: ts.SourceFile, position: number): number {
  return source.getLineAndCharacterOfPosition(position).line;
}

function noteImport(node: ts.Node, path: string, imports: Map<string, { isTypeOnly: boolean }>): void {
  const specifier = specifierOf(node);
  if (specifier?.startsWith('.') !== true || !specifier.endsWith('.js')) return;
  const target = join(dirname(path), specifier).replace(/\.js$/, '.ts');
  const isTypeOnly = isTypeImport(node) && (imports.get(target)?.isTypeOnly ?? true);
  imports.set(target, { isTypeOnly });
}

function specifierOf(node: ts.Node): string | undefined {
  if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined)
    return (node.moduleSpecifier as ts.StringLiteral).text;
  const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  const [argument] = isDynamic ? node.arguments : [];
  return argument !== undefined && ts.isStringLiteral(argument) ? argument.text : undefined;
}

function isTypeImport(node: ts.Node): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  if (!ts.isImportDeclaration(node)) return false;
  const { importClause } = node;
  if (importClause === undefined) return false;
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { name, namedBindings } = importClause;
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.every((element) => element.isTypeOnly);
}

/** The imports have no cycles, which `npm run check:layers` holds; a file that is being visited counts as an end. */
function longestChain(files: ReadonlyMap<string, SourceFile>, entry: string, withTypes: boolean): string[] {
  const chains = new Map<string, string[]>();
  const chainOf = (path: string): string[] => {
    const known = chains.get(path);
    if (known !== undefined) return known;
    chains.set(path, []);
    let longest: string[] = [];
    for (const [target, { isTypeOnly }] of files.get(path)?.imports ?? []) {
      if (!files.has(target) || (isTypeOnly && !withTypes)) continue;
      const chain = chainOf(target);
      if (chain.length > longest.length) longest = chain;
    }
    const chain = [path, ...longest];
    chains.set(path, chain);
    return chain;
  };
  return chainOf(entry);
}

function spread(figures: readonly number[]): number[] {
  const sorted = figures.toSorted((one, other) => one - other);
  const at = (portion: number): number => sorted[Math.floor(portion * (sorted.length - 1))] ?? 0;
  return [at(0.5), at(0.9), at(1)];
}

/** It holds shapes alone, and grows with what the service speaks: its size says nothing of the house. */
const pageOfForms = 'src/contract';

function largestFolder(paths: readonly string[]): Shape['largestFolder'] {
  const counts = new Map<string, number>();
  for (const folder of paths.map((path) => dirname(path)).filter((each) => each !== pageOfForms))
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  const [path, files] = [...counts].reduce((most, next) => (next[1] > most[1] ? next : most));
  return { path, files };
}

function namesTwice(paths: readonly string[]): string[] {
  const names = paths.map((path) => basename(path, '.ts')).filter((name) => !/^(index|main)$/.test(name));
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))].toSorted();
}
