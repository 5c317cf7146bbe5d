import parse from 'parse-prometheus-text-format';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../../runners/batch/context/run-event.js';
import type { Summary } from '../../../../runners/batch/sinks/summary-file.js';
import { MetricsFold } from '../../../../runners/cli/progress/keep-metrics-file.js';
import { metricsText } from '../../../../runners/cli/progress/metrics-text.js';
import type { JobEvent } from '../../../../src/contract/outcome.js';
import { summaryWith } from '../../../support/whole-values.js';

const summary = summaryWith({
  rows: { total: 12, completed: 7, failed: 3, toDo: 2 },
  failures: { 'job-failed': 2, unknown: 1 },
  cost: { reported: 0.6125, unknown: 0.0875, cap: 5 },
  statusCalls: 31,
  starts: 2,
  thisStart: { ended: 10, completed: 7, failed: 3, unknown: 1 },
});
const step = (id: string, event: JobEvent<unknown>): RunEvent => ({ type: 'row', id, row: 1, event });
const done = (delayTimeMs: number, executionTimeMs: number): JobEvent<unknown> => ({
  type: 'settled',
  outcome: { status: 'completed', jobId: 'j', output: {}, costUsd: null, delayTimeMs, executionTimeMs },
});

function textOf(
  events: readonly (readonly [at: number, event: RunEvent])[],
  known?: Summary,
  run = '/runs/a.out',
) {
  const fold = new MetricsFold(8, 0);
  for (const [at, event] of events) fold.take(event, at);
  return metricsText(fold.figures(known, 20_000), run, true);
}

function valuesOf(text: string): Map<string, number> {
  return new Map(
    parse(text).flatMap(({ name, metrics }) =>
      metrics.flatMap(({ labels, value }) =>
        value === undefined
          ? []
          : [[[name, ...Object.values(labels ?? {}).slice(1)].join(' '), Number(value)]],
      ),
    ),
  );
}

describe('metricsText', () => {
  it('tells rows, money, what is in flight and status calls, in the words of another parser', () => {
    const values = valuesOf(
      textOf(
        [
          [0, step('a', { type: 'submitting', sync: false })],
          [0, step('b', { type: 'submitting', sync: false })],
          [0, step('c', { type: 'submitting', sync: false })],
          [1, step('a', { type: 'accepted', jobId: 'j' })],
          [2, { type: 'warning', code: 'warn-at', message: '80% of the cap' }],
          [2, step('b', { type: 'status', status: 'IN_PROGRESS' })],
        ],
        summary,
      ),
    );
    expect(Object.fromEntries(values)).toEqual({
      millrace_running: 1,
      'millrace_rows completed': 7,
      'millrace_rows job-failed': 2,
      'millrace_rows unknown': 1,
      'millrace_rows to-do': 2,
      'millrace_rows_in_flight sent': 1,
      'millrace_rows_in_flight queued': 1,
      'millrace_rows_in_flight working': 1,
      'millrace_rows_in_flight saving': 0,
      millrace_concurrency: 8,
      'millrace_cost_usd reported': 0.6125,
      'millrace_cost_usd estimated': 0,
      'millrace_cost_usd unknown': 0.0875,
      millrace_cost_cap_usd: 5,
      millrace_status_calls_total: 31,
      'millrace_warnings_total warn-at': 1,
      millrace_starts_total: 2,
    });
  });

  it('counts each time in every bucket that holds it', () => {
    const text = textOf([
      [0, step('a', { type: 'submitting', sync: true })],
      [4_000, step('a', done(200, 3_000))],
      [5_000, { type: 'ended', id: 'a', row: 1, status: 'completed', cost: 0 }],
      [5_000, step('b', { type: 'submitting', sync: true })],
      [9_000, step('b', done(40, 4_000_000))],
    ]);
    const [queue, execution, row] = ['queue', 'execution', 'row'].map((name) =>
      parse(text).find((metric) => metric.name === `millrace_${name}_seconds`)!,
    );
    expect([queue, execution, row].map((metric) => metric!.type)).toEqual([
      'HISTOGRAM',
      'HISTOGRAM',
      'HISTOGRAM',
    ]);
    expect(queue!.metrics[0]!.buckets).toMatchObject({ '0.1': '1', '0.25': '2', '3600': '2', '+Inf': '2' });
    expect(execution!.metrics[0]!.buckets).toMatchObject({ '2.5': '0', '5': '1', '3600': '1', '+Inf': '2' });
    expect(row!.metrics[0]!.buckets).toMatchObject({ '2.5': '0', '5': '1', '+Inf': '1' });
    expect(text).toContain('millrace_row_seconds_sum{run="/runs/a.out"} 5\n');
    expect(text).toContain('millrace_row_seconds_count{run="/runs/a.out"} 1\n');
  });

  it('leaves out what is not known yet, and keeps a strange path in its label', () => {
    const text = textOf([], undefined, '/runs/a "b"\\c\nd');
    expect(text).toMatch(/^millrace_running\{run="\/runs\/a \\"b\\"\\\\c\\nd"\} 1$/m);
    expect([...valuesOf(text).keys()].some((name) => /cost|status_calls|millrace_rows /.test(name))).toBe(
      false,
    );
    expect(text.endsWith('\n')).toBe(true);
  });
});
