import type { RunStatus } from '../../batch/index.js';
import { firstOf } from '../../batch/formats.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { countOf, formatCount, formatDuration, formatMoney, fact, listed, plainText } from './plain-text.js';
import { isShownByRows } from '../../report/messages/what-to-do.js';
import { outcomeText } from './outcome-text.js';
import { settleText } from './plan-text.js';
import type { RemoteStatus } from '../../distributed/remote-status.js';

/** No rate is shown before this time, in ms. */
const enoughMs = 3_000;

/** What a running process writes about itself each second. */
interface LivePart {
  readonly rowsPerMinute?: number;
  readonly leftMs?: number;
  /** Why nothing moves at present. */
  readonly cause?: string;
}

/**
 * The state of a run, for people. `now` in ms since the epoch.
 *
 * @param live what the running process writes about itself
 */
export function statusText(status: RunStatus, name: string, now: number, live?: LivePart): string[] {
  const { accepted, replied } = status.pending;
  return [
    `${name}: ${stateText(status, now)}`,
    // Status calls about rows in flight are counted only when the rows end.
    ...outcomeText(accepted + replied > 0 ? { ...status, statusCalls: 0 } : status, status.isRehearsal),
    ...fact('cap', capText(status)),
    ...fact('caps', capsByText(status)),
    ...fact('ids in doubt', heldText(status, name)),
    ...fact('not reached', status.isRunning ? plainText(status.summary?.thisStart.unreached ?? '', 300) : ''),
    ...fact('waiting', status.isRunning ? plainText(live?.cause ?? '', 300) : ''),
    ...fact('pace', live === undefined ? averageText(status, now) : liveRateText(live)),
    ...fact('at most', limitsText(status)),
    ...(isNews(status) ? [`  ${plainText(status.reason ?? '', 2000)}`] : []),
  ];
}

/** Whether to print how the last start ended. */
function isNews({ isRunning, reason, exitCode = 0 }: RunStatus): boolean {
  return !isRunning && reason !== undefined && !isShownByRows(exitCode);
}

/** The cap that the run remembers; any other cap was for one start only. */
function capText({ rememberedCap }: RunStatus): string {
  if (rememberedCap === undefined) return '';
  if (rememberedCap === null) return 'lifted by --max-cost none; a later --max-cost sets one again';
  return `${formatMoney(toMicroDollars(rememberedCap))} for every start of this run, which remembers it; --max-cost USD changes it, --max-cost none lifts it`;
}

function capsByText({ rememberedCapsBy = {} }: RunStatus): string {
  const caps = Object.entries(rememberedCapsBy).map(
    ([column, usd]) => `${formatMoney(toMicroDollars(usd))} for each ${plainText(column, 60)}`,
  );
  const text = 'the run remembers it; --max-cost-by COLUMN=USD changes it, COLUMN=none lifts it';
  return caps.length === 0 ? '' : `${caps.join(', ')}: ${text}`;
}

function stateText({ isRunning, owner, exitCode, times, starts }: RunStatus, now: number): string {
  const since = (at: string | undefined): string =>
    at === undefined ? 'a while' : formatDuration(now - Date.parse(at));
  if (isRunning) {
    const who = owner === undefined ? '' : ` as process ${owner.pid} on ${plainText(owner.host, 60)}`;
    return `running${who} for ${since(times.lastStartAt)}`;
  }
  if (starts === 0) return 'never started';
  if (exitCode === undefined)
    return `stopped: the last start, ${since(times.lastStartAt)} ago, ended without finishing`;
  return `ended ${since(times.endedAt)} ago with exit code ${exitCode}`;
}

/** The held rows of a running process; those of a stopped run are listed after these facts. */
function heldText({ isRunning, isRehearsal, held, failures }: RunStatus, name: string): string {
  if (!isRunning || held.length === 0) return '';
  const ids = held.map((id) => plainText(id, 60));
  return `${firstOf(ids, failures.unknown ?? 0)}: ${settleText(name, isRehearsal)}`;
}

function liveRateText({ rowsPerMinute, leftMs }: LivePart): string {
  if (rowsPerMinute === undefined) return '';
  const left = leftMs === undefined ? '' : `, about ${formatDuration(leftMs)} left`;
  return `${rowsAMinute(rowsPerMinute)}${left}`;
}

/** Shows no remaining time: a process that writes nothing about itself may not be making progress. */
function averageText({ isRunning, summary, times }: RunStatus, now: number): string {
  const elapsedMs = times.lastStartAt === undefined ? 0 : now - Date.parse(times.lastStartAt);
  const ended = summary?.thisStart.ended ?? 0;
  if (!isRunning || ended === 0 || elapsedMs < enoughMs) return '';
  return `${rowsAMinute((ended * 60_000) / elapsedMs)} on average`;
}

function rowsAMinute(count: number): string {
  return `${countOf(Math.round(count), 'row')} a minute`;
}

/** The limits of the latest start, given or measured. */
function limitsText({ summary }: RunStatus): string {
  const { concurrency, rate } = summary?.thisStart ?? {};
  if (concurrency === undefined) return '';
  const requests = rate === undefined ? '' : `, ${countOf(Math.round(rate), 'request')} a second`;
  return `${countOf(concurrency, 'row')} in flight${requests}`;
}

/** The state of a run in its database, and a line for each worker. `now` in ms since the epoch. */
export function remoteText(remote: RemoteStatus, now: number): string[] {
  const database = plainText(remote.database, 200);
  if ('problem' in remote) return fact('database', `${database}: ${plainText(remote.problem, 500)}`);
  const { state, uncopied, workers } = remote;
  const { open, inFlight, stop } = state;
  const parts = [
    `${formatCount(open)} wait`,
    `${formatCount(inFlight)} in flight`,
    uncopied > 0 && `${countOf(uncopied, 'record')} still to be copied`,
    stop && 'stopped',
  ];
  return [
    ...fact('database', `${database}: ${listed(parts)}`),
    ...(workers.length === 0
      ? fact('workers', 'none')
      : workers.flatMap((worker) => workerText(worker, now))),
  ];
}

type Worker = Extract<RemoteStatus, { workers: unknown }>['workers'][number];

function workerText({ host, pid, startedAt, silence, does }: Worker, now: number): string[] {
  const { sends, polls, saves } = does;
  const work = [
    sends > 0 && `sends ${formatCount(sends)}`,
    polls > 0 && `polls ${formatCount(polls)}`,
    saves > 0 && `saves ${formatCount(saves)}`,
  ];
  const what = silence ?? (listed(work) || 'waits');
  return fact(
    'worker',
    `${plainText(host, 60)}, process ${pid}, for ${formatDuration(now - startedAt)}: ${what}`,
  );
}
