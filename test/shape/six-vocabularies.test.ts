import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

/** Names by which a word list would say where a row is. */
const namesOfStates = /(state|status|phase|place|stage|step|mark|fate|decision|standing)$/i;

/**
 * Row states, journal records, job events with their outcomes, tasks, claims and stop causes say where a row is and what becomes
 * of it (runners/batch/README.md). A list of words under such a name elsewhere speaks of something else, named here.
 */
const others: Readonly<Record<string, string>> = {
  'src/operators/budget/create-budget.ts state': 'money',
  'src/policy/gates/refusal-trial.ts TrialStep': 'a rate that is found out',
  'src/policy/polling/tracked-job.ts state': 'what the service is believed to do with a job',
  'src/webhooks/backstop-polls.ts CallbackState': 'whether callbacks come',
  'src/transport/transport-error.ts FaultPhase': 'a request on the wire',
  'runners/batch/ledger/ledger.ts state': 'money',
  'runners/cli/service/check-service.ts state': 'an endpoint',
  'runners/emulator/faults/fault.ts FaultPhase': 'a request that the emulator answers',
  'runners/emulator/queue/service-job.ts JobStatus': "a job of the emulator's",
  'runners/emulator/queue/service-job.ts status': "a job of the emulator's",
};

const six: Readonly<Record<string, string>> = {
  'runners/batch/row/row-status.ts EndStatus': 'row state',
  'runners/batch/row/row-status.ts PendingStatus': 'row state',
  'runners/batch/row/row-status.ts UnendedStatus': 'row state',
  'runners/distributed/queue/row-queue.ts Place': 'claim',
};

it('says where a row is in six vocabularies and no others', () => {
  const found = ['src', 'runners'].flatMap(wordListsBelow);
  expect(found.toSorted()).toEqual([...Object.keys(six), ...Object.keys(others)].toSorted());
});

function wordListsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .flatMap((name) => wordListsIn(join(folder, name)));
}

/** Types of two words or more under such a name. */
function wordListsIn(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isNamed =
      ts.isTypeAliasDeclaration(node) || ts.isPropertySignature(node) || ts.isPropertyDeclaration(node);
    if (isNamed && node.type !== undefined) {
      const name = node.name.getText();
      if (namesOfStates.test(name) && isWordList(node.type)) found.push(`${path} ${name}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...new Set(found)];
}

function isWordList(type: ts.TypeNode): boolean {
  if (!ts.isUnionTypeNode(type)) return false;
  const words = type.types.filter((part) => ts.isLiteralTypeNode(part) && ts.isStringLiteral(part.literal));
  return words.length > 1 || (words.length === 1 && type.types.some((part) => ts.isTypeReferenceNode(part)));
}
