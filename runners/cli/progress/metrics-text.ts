import type { Summary } from '../../batch/internal.js';
import type { ProgressView } from './progress-view.js';

/** The figures of the metrics file at one moment. */
export interface Figures {
  /** Over all starts of the run, from summary.json, a few seconds old. `undefined` before the first one. */
  readonly summary: Summary | undefined;
  /** The current progress of this start. */
  readonly progress: ProgressView;
  /** Seconds of this start: in the service's queue, at work there, and from a row's first request to its end. */
  readonly queue: Histogram;
  readonly execution: Histogram;
  readonly row: Histogram;
  /** How many warnings this start has given, by kind. */
  readonly warnings: ReadonlyMap<string, number>;
  /** Of the latest start; absent while it runs, or if it ended without a last event. */
  readonly exitCode?: number;
}

/** A Prometheus histogram: `counts` are cumulative, one for each upper bound. */
export interface Histogram {
  readonly bounds: readonly number[];
  /** One for each bound. */
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** A value with its labels. */
type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/**
 * The figures of a run in the text format of Prometheus. Every sample has the label `run`, so that files of several runs can be
 * in one folder.
 *
 * @param run The label's value, the path of the run's output folder.
 */
export function metricsText(figures: Figures, run: string, isRunning: boolean): string {
  const { summary, progress, queue, execution, row, warnings, exitCode } = figures;
  const { sent, saving, queued, working } = phasesOf(progress);
  const lines = [
    ...metric('millrace_running', 'gauge', '1 while a process works on the run.', run, [
      [{}, isRunning ? 1 : 0],
    ]),
    ...metric('millrace_exit_code', 'gauge', 'How the latest start ended.', run, [
      ...(exitCode === undefined ? [] : [[{}, exitCode] as const]),
    ]),
    ...metric('millrace_rows', 'gauge', 'Rows by outcome, over all starts of the run.', run, rowsOf(summary)),
    ...metric('millrace_rows_in_flight', 'gauge', 'Rows on their way, by where they are.', run, [
      [{ phase: 'sent' }, sent],
      [{ phase: 'queued' }, queued],
      [{ phase: 'working' }, working],
      [{ phase: 'saving' }, saving],
    ]),
    ...metric('millrace_concurrency', 'gauge', 'Rows that may be in flight.', run, [
      [{}, progress.concurrency],
    ]),
    ...metric(
      'millrace_cost_usd',
      'gauge',
      'Money over all starts of the run, by state.',
      run,
      costOf(summary),
    ),
    ...metric('millrace_cost_cap_usd', 'gauge', 'The cap over all starts.', run, [
      ...(summary?.cost.cap === undefined ? [] : [[{}, summary.cost.cap] as const]),
    ]),
    ...metric('millrace_status_calls_total', 'counter', 'Status calls over all starts of the run.', run, [
      ...(summary === undefined ? [] : [[{}, summary.statusCalls] as const]),
    ]),
    ...metric('millrace_warnings_total', 'counter', 'Warnings of this start, by kind.', run, [
      ...[...warnings].map(([kind, count]): Sample => [{ kind }, count]),
    ]),
    ...metric('millrace_starts_total', 'counter', 'How often the run was started.', run, [
      ...(summary === undefined ? [] : [[{}, summary.starts] as const]),
    ]),
    ...histogram(
      'millrace_queue_seconds',
      'Time in the queue of the service, of jobs of this start.',
      run,
      queue,
    ),
    ...histogram('millrace_execution_seconds', 'Time at work, of jobs of this start.', run, execution),
    ...histogram('millrace_row_seconds', "From a row's first request to its end, in this start.", run, row),
  ];
  return `${lines.join('\n')}\n`;
}

/** A job without a status counts as queued; rows of other processes count as sent. */
function phasesOf({ inFlight, accepted, queued, working, saving }: Figures['progress']) {
  return { sent: inFlight - accepted - queued - working, queued: accepted + queued, working, saving };
}

function rowsOf(summary: Figures['summary']): Sample[] {
  if (summary === undefined) return [];
  return [
    [{ outcome: 'completed' }, summary.rows.completed],
    ...Object.entries(summary.failures).map(([code, count]): Sample => [{ outcome: code }, count]),
    [{ outcome: 'to-do' }, summary.rows.toDo],
  ];
}

function costOf(summary: Figures['summary']): Sample[] {
  if (summary === undefined) return [];
  const { reported, estimated, unknown } = summary.cost;
  return Object.entries({ reported, estimated, unknown }).map(([source, usd]): Sample => [{ source }, usd]);
}

/** A metric with its help and type; nothing if it has no samples. */
function metric(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  run: string,
  samples: readonly Sample[],
): string[] {
  if (samples.length === 0) return [];
  return [...head(name, type, help), ...samples.map((sample) => line(name, run, sample))];
}

function histogram(
  name: string,
  help: string,
  run: string,
  { bounds, counts, count, sum }: Histogram,
): string[] {
  const buckets = bounds.map((bound, place): Sample => [{ le: String(bound) }, counts[place] ?? 0]);
  return [
    ...head(name, 'histogram', help),
    ...[...buckets, [{ le: '+Inf' }, count] as const].map((sample) => line(`${name}_bucket`, run, sample)),
    line(`${name}_sum`, run, [{}, sum]),
    line(`${name}_count`, run, [{}, count]),
  ];
}

function head(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function line(name: string, run: string, [labels, value]: Sample): string {
  const text = Object.entries({ run, ...labels }).map(([label, of]) => `${label}="${escaped(of)}"`);
  return `${name}{${text.join(',')}} ${value}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
