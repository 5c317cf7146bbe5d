/**
 * Words that no name may have as a part, each with the field's own word for it. The rule checks declared names and the name of the
 * file, split at capitals and dashes. Texts and names from outside are free.
 */
const insteadOf = {
  tell: 'emit, print, report or notify',
  tells: 'emits, prints, reports',
  told: 'emitted, printed, known',
  telling: 'reporting',
  say: 'report, describe',
  says: 'reports, describes',
  said: 'reported',
  saying: 'reporting',
  hear: 'receive, observe',
  heard: 'received, observed',
  desk: 'client context',
  stage: 'share, subscribers',
  scene: 'critical section',
  audience: 'subscribers',
  uninterrupted: 'critical section',
  mark: 'checkpoint event',
  marks: 'checkpoint events',
  marked: 'kept',
  turnstile: 'gate',
  pace: 'rate',
  law: 'run-time distribution',
  laws: 'run-time distributions',
  rebuy: 'retry purchase',
  hands: 'worker slots',
  piece: 'work item',
  pieces: 'work items',
  doubt: 'unknown, held',
  doubts: 'unknowns',
  doubted: 'unknown, held',
};
const partsOf = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z]+/)
    .map((part) => part.toLowerCase());
const wrongPart = (name) => partsOf(name).find((part) => Object.hasOwn(insteadOf, part));

/** The ESLint rule. */
export const plainWords = {
  meta: { type: 'suggestion', schema: [], messages: { word: "'{{name}}': say {{instead}} for '{{part}}'." } },
  create(context) {
    const check = (node, name) => {
      const part = wrongPart(name);
      if (part !== undefined)
        context.report({ node, messageId: 'word', data: { name, part, instead: insteadOf[part] } });
    };
    const declared = (node) => {
      if (node?.type === 'Identifier' || node?.type === 'PrivateIdentifier') check(node, node.name);
    };
    const pattern = (node) => {
      if (!node) return;
      if (node.type === 'Identifier') check(node, node.name);
      else if (node.type === 'ObjectPattern')
        node.properties.forEach((property) =>
          pattern(property.type === 'RestElement' ? property.argument : property.value),
        );
      else if (node.type === 'ArrayPattern') node.elements.forEach(pattern);
      else if (node.type === 'AssignmentPattern') pattern(node.left);
      else if (node.type === 'RestElement') pattern(node.argument);
      else if (node.type === 'TSParameterProperty') pattern(node.parameter);
    };
    const fn = (node) => {
      declared(node.id);
      node.params.forEach(pattern);
    };
    return {
      Program: (node) => check(node, context.filename.replace(/.*[/\\]/, '').replace(/\..*$/, '')),
      VariableDeclarator: (node) => pattern(node.id),
      FunctionDeclaration: fn,
      FunctionExpression: fn,
      ArrowFunctionExpression: fn,
      TSEmptyBodyFunctionExpression: fn,
      TSDeclareFunction: fn,
      ClassDeclaration: (node) => declared(node.id),
      TSTypeAliasDeclaration: (node) => declared(node.id),
      TSInterfaceDeclaration: (node) => declared(node.id),
      TSPropertySignature: (node) => declared(node.key),
      TSMethodSignature: (node) => declared(node.key),
      PropertyDefinition: (node) => declared(node.key),
      MethodDefinition: (node) => declared(node.key),
    };
  },
};
