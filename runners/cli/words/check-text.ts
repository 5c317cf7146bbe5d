import type { CheckedRows, DeadReference } from '../check/check-rows.js';
import { countOf, formatCount } from './amounts.js';
import { plainText } from './plain-text.js';

const deadShown = 200;
const stateWords = { refused: 'key refused', gone: 'not there', unreached: 'not reached' } as const;

/** What `plan --check` found out of the endpoints and the references, in a line each. */
export function checkText({ endpoints, tested, deadCount }: CheckedRows): string[] {
  const dead = deadCount === 0 ? 'all there' : `${formatCount(deadCount)} that the service cannot fetch`;
  return [
    ...[...endpoints].map(
      ([id, { state, words }]) =>
        `  endpoint     ${plainText(id, 80)}: ${state === 'up' ? plainText(words, 300) : stateWords[state]}`,
    ),
    ...(tested === 0 ? [] : [`  references   ${countOf(tested, 'address', 'addresses')} tested, ${dead}`]),
  ];
}

const advice = {
  refused: 'the key is refused; look at MILLRACE_API_KEY or --api-key-file',
  gone: 'there is no such endpoint; look at --endpoint and the column "endpoint"',
  unreached: 'the service does not answer; look at --base-url, or try again later',
} as const;

/** A line for each endpoint to which no row can be sent. */
export function endpointProblems({ endpoints }: CheckedRows): string[] {
  return [...endpoints].flatMap(([id, { state, rows, words }]) =>
    state === 'up'
      ? []
      : [
          `endpoint ${plainText(id, 80)} (${countOf(rows, 'row')}): ${advice[state]} (${plainText(words, 300)})`,
        ],
  );
}

/** A line for each row whose reference is not there, beginning with file and line. */
export function deadText({ dead, deadCount }: CheckedRows, name: string): string[] {
  const rest = deadCount - Math.min(dead.length, deadShown);
  return [
    ...dead.slice(0, deadShown).map((one) => `${name}, ${wordsOf(one)}`),
    ...(rest > 0 ? [`… and ${countOf(rest, 'further reference')}`] : []),
  ];
}

function wordsOf({ line, id, url, problem }: DeadReference): string {
  return `line ${line}: row ${plainText(id, 60)}: ${plainText(url, 200)} ${plainText(problem, 300)}`;
}
