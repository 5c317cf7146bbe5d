import { toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import { firstOf, shellWords } from '../../batch/formats.js';
import type { FailureCode } from '../../../src/contract/failure-code.js';
import type { Summary } from '../../batch/internal.js';
import {
  countOf,
  formatCount,
  formatDuration,
  formatMoney,
  fact,
  listed,
  plainText,
  timeText,
} from './plain-text.js';
import type { FailureGroup } from '../../report/messages/group-failures.js';
import type { RunCommand } from '../../report/messages/run-again.js';
import { toGoOn, whatToDo, type LastEnd, type ToDo } from '../../report/messages/what-to-do.js';
import { costsByText } from './value-text.js';

/** At most this many causes are printed; the files and the report have all. */
const groupsShown = 10;
const idsShown = 5;

export interface RunFigures
  extends Pick<Summary, 'rows' | 'failures'>, Partial<Pick<Summary, 'statusCalls' | 'pending'>> {
  /** @defaultValue false */
  readonly isRunning?: boolean;
  /** Of the latest start. */
  readonly thisStart?: Pick<Summary['thisStart'], 'callbacks'>;
  readonly cost: Omit<Summary['cost'], 'drift'> & { readonly drift?: number };
}

/** Counts and money over all starts of a run, for people. The caller prints the first line. */
export function outcomeText(summary: RunFigures, isRehearsal = false): string[] {
  const { rows, failures, cost } = summary;
  const { unknown = 0, download = 0, ...others } = failures;
  const codes = (Object.entries(others) as [FailureCode, number][]).filter(([, count]) => count > 0);
  const failed = rows.failed - unknown - download;
  return [
    ...fact('completed', `${formatCount(rows.completed)} of ${countOf(rows.total, 'row')}`),
    ...fact('failed', failed > 0 && `${formatCount(failed)}   ${counted(codes)}`),
    ...fact(
      'in doubt',
      unknown > 0 && `${formatCount(unknown)}${isRehearsal ? '' : '   may have been charged'}`,
    ),
    ...fact(
      isRehearsal ? 'no file' : 'paid',
      download > 0 &&
        `${formatCount(download)}   ${isRehearsal ? 'the download failed' : 'still to be downloaded'}`,
    ),
    ...fact('to go', toGoFigure(summary, isRehearsal)),
    ...fact('cost', `${isRehearsal ? 'rehearsal, nothing spent; a real run: ' : ''}${moneyText(cost)}`),
    ...costsByText(cost),
    ...fact('status calls', (summary.statusCalls ?? 0) > 0 ? formatCount(summary.statusCalls ?? 0) : ''),
    ...fact('callbacks', calledText(summary.thisStart?.callbacks)),
  ];
}

/** The rows without an end, and those of them that are at the service, or may be. */
function toGoFigure({ rows, pending, isRunning = false }: RunFigures, isRehearsal: boolean): string {
  if (rows.toDo === 0) return '';
  const { sent = 0, accepted = 0, replied = 0 } = pending ?? {};
  const onTheWay = listed([
    sent > 0 &&
      `${formatCount(sent)} sent and not answered${isRunning ? '' : ' (in doubt from the next start on)'}`,
    accepted > 0 &&
      `${formatCount(accepted)} accepted${isRunning || isRehearsal ? '' : ' (the next start asks for them)'}`,
    replied > 0 && `${formatCount(replied)} to be saved`,
  ]);
  return `${formatCount(rows.toDo)}${onTheWay === '' ? '' : `   of them ${onTheWay}`}`;
}

function calledText(calls: Summary['thisStart']['callbacks']): string {
  if (calls === undefined) return '';
  const refused = calls.refused > 0 ? `, ${formatCount(calls.refused)} refused` : '';
  return `${formatCount(calls.taken)} taken${refused}`;
}

/** How long the latest start took; empty if it ended at once because nothing was to be done. */
export function tookText({
  times,
  thisStart,
  starts,
}: Pick<Summary, 'times' | 'thisStart' | 'starts'>): string[] {
  const ms = Date.parse(times.endedAt ?? '') - Date.parse(times.startedAt);
  if (Number.isNaN(ms) || (thisStart.ended === 0 && ms < 1000)) return [];
  const took = ms < 1000 ? 'under 1 s' : formatDuration(ms);
  return fact('took', starts > 1 ? `${took}, this start` : took);
}

/**
 * Failures grouped by cause, the most frequent first, each with its advice and command.
 *
 * @param toGo rows to go, which these commands do as well
 */
export function failureText(
  groups: readonly FailureGroup[],
  run: RunCommand,
  prices: Readonly<Record<string, MicroDollars>>,
  toGo = 0,
): string[] {
  const todos = whatToDo(groups, run, prices, toGo);
  const shown = groups.slice(0, groupsShown);
  const rest = groups.slice(groupsShown).reduce((sum, group) => sum + group.count, 0);
  return [
    ...shown.flatMap((group, index) => {
      const todo = todos[index];
      if (todo === undefined) return [];
      return [
        `  ${todo.title} (${group.code}): ${plainText(todo.cause, 300)}`,
        `    ${idsText(group.ids, group.count)}${timesText(group)}`,
        ...adviceLines(todo),
      ];
    }),
    ...(rest > 0 ? [`  … and ${countOf(rest, 'row')} of other causes: see failures.jsonl`] : []),
  ];
}

/**
 * Rows that are still to be done, and the command for them.
 *
 * @param which stands behind their number
 */
export function toGoText(count: number, run: RunCommand, last: LastEnd, which = ''): string[] {
  return toGoOn(count, run, last, which).flatMap((todo) => [`  ${todo.title}`, ...adviceLines(todo)]);
}

/** Money of earlier attempts of rows, which affects no exit code. */
export function earlierAttemptsText(usd: number, { folder, isRehearsal }: RunCommand): string[] {
  if (usd === 0 || isRehearsal) return [];
  return [
    `  ${formatMoney(toMicroDollars(usd))} in doubt for earlier attempts`,
    ...adviceLines({
      cost: 'May have been charged.',
      advice: 'Look at your account; the ways to decide are listed by:',
      command: shellWords('millrace', 'settle', folder),
    }),
  ];
}

function adviceLines({ cost, advice, command }: Pick<ToDo, 'cost' | 'advice' | 'command'>): string[] {
  return [
    `    ${cost === '' ? '' : `${cost} `}${advice}`,
    ...(command === undefined ? [] : [`      ${command}`]),
  ];
}

/** Times with the day, unless it is today, because a run may take weeks. */
function timesText({ firstAt, lastAt }: FailureGroup): string {
  if (firstAt === undefined || lastAt === undefined) return '';
  const today = new Date().toDateString();
  const time = (at: number): string => {
    const date = new Date(at);
    return date.toDateString() === today ? date.toLocaleTimeString('en-GB') : timeText(at);
  };
  return time(firstAt) === time(lastAt)
    ? `; at ${time(firstAt)}`
    : `; from ${time(firstAt)} to ${time(lastAt)}`;
}

function moneyText(cost: RunFigures['cost']): string {
  const usd = (amount: number): string => formatMoney(toMicroDollars(amount));
  const parts = [
    `${usd(cost.reported)} reported`,
    cost.estimated > 0 && `${usd(cost.estimated)} estimated`,
    (cost.unsaved ?? 0) > 0 && `${usd(cost.unsaved ?? 0)} paid for pictures still to be saved`,
    (cost.reserved ?? 0) > 0 && `${usd(cost.reserved ?? 0)} may still be charged`,
    cost.unknown > 0 && `${usd(cost.unknown)} in doubt`,
    cost.possiblyDouble > 0 && `${usd(cost.possiblyDouble)} of it for earlier attempts`,
    cost.unpriced > 0 && `${countOf(cost.unpriced, 'purchase')} of no known price`,
    (cost.drift ?? 0) > 0 && `${usd(cost.drift ?? 0)} over estimate`,
    cost.cap !== undefined && `cap ${usd(cost.cap)}`,
  ];
  return listed(parts);
}

function idsText(ids: readonly string[], count: number): string {
  const names = ids.slice(0, idsShown).map((id) => plainText(id, 60));
  return `${count === 1 ? 'id' : 'ids'} ${firstOf(names, count)}`;
}

function counted(codes: readonly (readonly [string, number])[]): string {
  return codes.map(([code, count]) => `${code} ${formatCount(count)}`).join(', ');
}
