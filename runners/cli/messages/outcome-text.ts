import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { FailureCode } from '../../../src/contract/failure-code.js';
import type { Summary } from '../../batch/sinks/summary-file.js';
import { countOf, formatCount, formatMoney } from './number-text.js';
import type { FailureGroup } from './group-failures.js';
import { fact, plainText } from './plain-text.js';

/** Causes beyond this many are in the files and in the report. */
const groupsShown = 10;

/** The figures of a run, running or ended. */
export interface Standing extends Pick<Summary, 'rows' | 'failures'>, Partial<Pick<Summary, 'statusCalls'>> {
  readonly cost: Omit<Summary['cost'], 'drift'> & { readonly drift?: number };
}

/** Counts and money over all starts of a run, for people. The caller prints the first line. */
export function outcomeText(summary: Standing): string[] {
  const { rows, failures, cost } = summary;
  const codes = (Object.entries(failures) as [FailureCode, number][]).filter(([, count]) => count > 0);
  return [
    ...fact('completed', `${formatCount(rows.completed)} of ${countOf(rows.total, 'row')}`),
    ...fact('failed', rows.failed > 0 ? `${formatCount(rows.failed)}   ${counted(codes)}` : ''),
    ...fact('to be done', rows.toDo > 0 ? formatCount(rows.toDo) : ''),
    ...fact('cost', moneyText(cost)),
    ...fact('status calls', (summary.statusCalls ?? 0) > 0 ? formatCount(summary.statusCalls ?? 0) : ''),
  ];
}

/** Failures by equal cause, the most frequent first, each with what to do about it. */
export function failureText(groups: readonly FailureGroup[]): string[] {
  const shown = groups.slice(0, groupsShown);
  const rest = groups.slice(groupsShown).reduce((sum, group) => sum + group.count, 0);
  return [
    ...shown.flatMap(({ code, count, message, ids }) => [
      `  ${countOf(count, 'row')} ${code}${message === undefined ? ', of various causes' : `: ${message}`}`,
      `    ${idsText(ids, count)}`,
      `    ${advise(code)}`,
    ]),
    ...(rest > 0 ? [`  … and ${countOf(rest, 'row')} of other causes: see failures.jsonl`] : []),
  ];
}

function moneyText(cost: Standing['cost']): string {
  const usd = (amount: number): string => formatMoney(toMicroDollars(amount));
  const parts = [
    `${usd(cost.reported)} reported`,
    cost.estimated > 0 && `${usd(cost.estimated)} estimated`,
    (cost.unsaved ?? 0) > 0 && `${usd(cost.unsaved ?? 0)} paid for pictures still to be saved`,
    (cost.reserved ?? 0) > 0 && `${usd(cost.reserved ?? 0)} reserved for what may be on its way`,
    cost.unknown > 0 && `${usd(cost.unknown)} held for what may have been bought`,
    cost.possiblyDouble > 0 && `${usd(cost.possiblyDouble)} of it possibly bought twice`,
    cost.unpriced > 0 && `${countOf(cost.unpriced, 'purchase')} of no known price`,
    (cost.drift ?? 0) > 0 && `${usd(cost.drift ?? 0)} dearer than expected`,
    cost.cap !== undefined && `cap ${usd(cost.cap)}`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

function idsText(ids: readonly string[], count: number): string {
  const names = ids.map((id) => plainText(id, 60)).join(', ');
  return `${ids.length === 1 && count === 1 ? 'id' : 'ids'} ${names}${count > ids.length ? ', …' : ''}`;
}

function counted(codes: readonly (readonly [string, number])[]): string {
  return codes.map(([code, count]) => `${code} ${formatCount(count)}`).join(', ');
}

/** What a person can do about rows that failed with a code: one sentence. */
export function advise(code: FailureCode): string {
  return failureAdvice[code];
}

const again = 'once the cause is gone, run again with --retry failed: nothing was bought';

const failureAdvice: Readonly<Record<FailureCode, string>> = {
  'invalid-row': 'correct the rows and run again',
  rejected: 'the service refused the input: correct the rows and run again with --retry failed',
  'job-failed': again,
  'job-cancelled': again,
  'job-timed-out': 'raise the execution timeout of the endpoint, then run again with --retry failed',
  charged: 'look at the account: the service reports a cost for them; --retry charged buys them again',
  'route-not-found': 'check route, method and --lb-base-url, then run again with --retry failed',
  'route-failed': again,
  transport: again,
  'malformed-reply': again,
  deadline: 'run again: their jobs are asked about once more, nothing is bought; --timeout gives them longer',
  expired:
    'the service no longer knows their jobs, so their results are gone: each start asks for them once more, --retry expired buys them again',
  unknown:
    'they may have been bought: look at the account, then `millrace settle FOLDER ID`, or --retry unknown to risk paying twice',
  'output-mismatch': 'they are paid and their output is kept: compare it with the schema',
  download:
    'run again or `millrace refetch`: their pictures are fetched, nothing is bought; their URLs live 7 days',
  refused: 'run again later: nothing was bought',
  unreachable: 'run again later: nothing was bought',
  unauthorized: 'check the key, then run again',
  'endpoint-not-found': 'check the endpoint, then run again',
  insecure: 'check the address and its certificate, then run again',
  'over-budget': 'raise --max-cost and run again',
};
