import { readFileSync } from 'node:fs';
import parse from 'parse-prometheus-text-format';
import { describe, expect, it } from 'vitest';
import { MetricsFold } from '../../runners/cli/progress/keep-metrics-file.js';
import { metricsText } from '../../runners/cli/progress/metrics-text.js';
import { summaryWith } from '../support/whole-values.js';

interface Dashboard {
  readonly panels: readonly {
    id: number;
    title: string;
    targets: readonly { expr: string; legendFormat: string }[];
  }[];
  readonly templating: { readonly list: readonly { name: string; query: string }[] };
}
const dashboard = JSON.parse(
  readFileSync(new URL('../../samples/grafana/millrace-runs.json', import.meta.url), 'utf8'),
) as Dashboard;

/** Every metric that a run writes, as another parser reads it: its name with the labels that it has. */
function written(): Map<string, Set<string>> {
  const summary = summaryWith({
    rows: { total: 3, completed: 1, failed: 1, toDo: 1 },
    failures: { unknown: 1 },
    cost: { reported: 1, unknown: 1, cap: 5 },
  });
  const figures = { ...new MetricsFold(8, 0).figures(summary, 1_000), exitCode: 6 };
  const names = new Map<string, Set<string>>();
  for (const { name, type, metrics } of parse(metricsText(figures, '/runs/a.out', true))) {
    const labels = new Set(metrics.flatMap((metric) => Object.keys(metric.labels ?? {})));
    names.set(name, labels.add('run'));
    if (type === 'HISTOGRAM') names.set(`${name}_bucket`, new Set(['run', 'le']));
  }
  return names;
}

describe('the dashboard for Grafana', () => {
  const known = written();
  const targets = dashboard.panels.flatMap(({ title, targets }) =>
    targets.map((target) => ({ title, ...target })),
  );

  it.each(targets)(
    '$title asks for metrics and labels that a run writes: $expr',
    ({ expr, legendFormat }) => {
      const asked = [...expr.matchAll(/(millrace_\w+)\{([^}]*)\}/g)];
      expect(asked.length).toBeGreaterThan(0);
      for (const [, name = '', selector = ''] of asked) {
        expect([...known.keys()]).toContain(name);
        for (const [, label] of selector.matchAll(/(\w+)=~?"/g))
          expect([...known.get(name)!]).toContain(label);
        for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          expect([...known.get(name)!]).toContain(label);
        expect(selector).toContain('run=~"$run"');
      }
    },
  );

  it('shows every metric that a run writes', () => {
    const shown = new Set(targets.flatMap(({ expr }) => expr.match(/millrace_\w+/g) ?? []));
    const without = [...known.keys()].filter((name) => !shown.has(name) && !shown.has(`${name}_bucket`));
    expect(without).toStrictEqual([]);
  });

  it('finds the runs by a metric that every run has, and names each panel once', () => {
    expect(dashboard.templating.list.find(({ name }) => name === 'run')?.query).toBe(
      'label_values(millrace_running, run)',
    );
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
