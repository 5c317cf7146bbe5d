import type { Summary } from '../../batch/internal.js';
import type { ProgressView } from './progress-view.js';

export interface Figures {
  /** Over all starts of the run, from summary.json, a few seconds old. `undefined` before the first one. */
  readonly summary: Summary | undefined;
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

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

type Metric = readonly [
  name: string,
  type: 'gauge' | 'counter' | 'histogram',
  help: string,
  value: number | readonly Sample[] | Histogram | undefined,
];

/**
 * The figures of a run in the text format of Prometheus. Every sample has the label `run`, so that files of several runs can be
 * in one folder.
 *
 * @param run The label's value, the path of the run's output folder.
 */
export function metricsText(figures: Figures, run: string, isRunning: boolean): string {
  const { summary, progress, queue, execution, row, warnings, exitCode } = figures;
  const { sent, saving, queued, working } = phasesOf(progress);
  const metrics: Metric[] = [
    ['millrace_running', 'gauge', '1 while a process works on the run.', isRunning ? 1 : 0],
    ['millrace_exit_code', 'gauge', 'How the latest start ended.', exitCode],
    ['millrace_rows', 'gauge', 'Rows by outcome, over all starts of the run.', rowsOf(summary)],
    [
      'millrace_rows_in_flight',
      'gauge',
      'Rows on their way, by where they are.',
      samplesOf('phase', { sent, queued, working, saving }),
    ],
    ['millrace_concurrency', 'gauge', 'Rows that may be in flight.', progress.concurrency],
    ['millrace_cost_usd', 'gauge', 'Money over all starts of the run, by state.', costOf(summary)],
    ['millrace_cost_cap_usd', 'gauge', 'The cap over all starts.', summary?.cost.cap],
    [
      'millrace_status_calls_total',
      'counter',
      'Status calls over all starts of the run.',
      summary?.statusCalls,
    ],
    [
      'millrace_warnings_total',
      'counter',
      'Warnings of this start, by kind.',
      samplesOf('kind', Object.fromEntries(warnings)),
    ],
    ['millrace_starts_total', 'counter', 'How often the run was started.', summary?.starts],
    [
      'millrace_queue_seconds',
      'histogram',
      'Time in the queue of the service, of jobs of this start.',
      queue,
    ],
    ['millrace_execution_seconds', 'histogram', 'Time at work, of jobs of this start.', execution],
    ['millrace_row_seconds', 'histogram', "From a row's first request to its end, in this start.", row],
  ];
  return `${metrics.flatMap((metric) => metricLines(metric, run)).join('\n')}\n`;
}

/** A job without a status counts as queued; rows of other processes count as sent. */
function phasesOf({ inFlight, accepted, queued, working, saving }: Figures['progress']) {
  return { sent: inFlight - accepted - queued - working, queued: accepted + queued, working, saving };
}

function rowsOf(summary: Figures['summary']): Sample[] {
  if (summary === undefined) return [];
  const { rows, failures } = summary;
  return samplesOf('outcome', { completed: rows.completed, ...failures, 'to-do': rows.toDo });
}

function costOf(summary: Figures['summary']): Sample[] {
  if (summary === undefined) return [];
  const { reported, estimated, unknown } = summary.cost;
  return samplesOf('source', { reported, estimated, unknown });
}

function samplesOf(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]): Sample => [{ [label]: name }, value]);
}

/** A metric with its help and type; nothing if it has no value yet. */
function metricLines([name, type, help, value]: Metric, run: string): string[] {
  const lines = valueLines(name, value, run);
  return lines.length === 0 ? [] : [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}

function valueLines(name: string, value: Metric[3], run: string): string[] {
  if (value === undefined) return [];
  if (typeof value === 'number') return [line(name, run, [{}, value])];
  if (!('bounds' in value)) return value.map((sample) => line(name, run, sample));
  const { bounds, counts, count, sum } = value;
  const buckets = bounds.map((bound, place): Sample => [{ le: String(bound) }, counts[place] ?? 0]);
  return [
    ...[...buckets, [{ le: '+Inf' }, count] as const].map((sample) => line(`${name}_bucket`, run, sample)),
    line(`${name}_sum`, run, [{}, sum]),
    line(`${name}_count`, run, [{}, count]),
  ];
}

function line(name: string, run: string, [labels, value]: Sample): string {
  const text = Object.entries({ run, ...labels }).map(([label, of]) => `${label}="${escaped(of)}"`);
  return `${name}{${text.join(',')}} ${value}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
