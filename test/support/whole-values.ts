import type { InvalidRow, Row } from '../../runners/batch/manifest/manifest-row.js';
import type { Plan } from '../../runners/batch/manifest/plan-manifest.js';
import type { RowFacts } from '../../runners/batch/row/task.js';
import type { Summary } from '../../runners/batch/sinks/summary-file.js';
import type { Ahead } from '../../runners/batch/start/check/ahead.js';

/** A job on `echo` as the reader of a manifest makes it. */
export function rowWith(more: Partial<Row> = {}): Row {
  return {
    id: 'a',
    row: 1,
    line: 1,
    kind: 'job',
    endpoint: 'echo',
    mode: 'async',
    hash: 'aaaaaaaa',
    request: { kind: 'job', input: {} },
    cells: {},
    columns: {},
    columnUse: { kind: 'job', sent: [], own: [], misplaced: [] },
    ...more,
  };
}

/** What a run knows of such a row. */
export function factsWith(more: Partial<RowFacts> = {}): RowFacts {
  const { id, row, hash, kind, endpoint, mode, request, cells, columns } = rowWith();
  return { id, row, hash, kind, endpoint, mode, request, cells, columns, ...more };
}

export function invalidRowWith(more: Partial<InvalidRow> = {}): InvalidRow {
  return { row: 1, line: 1, key: 'a', problems: [], ownColumns: [], cells: {}, ...more };
}

/** The plan of a manifest without rows. */
export function planWith(more: Partial<Plan> = {}): Plan {
  return {
    rows: 0,
    byKind: { edit: 0, job: 0, route: 0 },
    byResolution: {},
    repeats: 0,
    invalid: 0,
    firstInvalid: [],
    problems: [],
    otherProblems: 0,
    warnings: [],
    columnsSent: [],
    columnsNotSent: [],
    imagesBeyondRecommended: 0,
    cost: { estimated: 0, unpriced: 0 },
    ...more,
  };
}

/** The summary of a run without rows. */
export function summaryWith({
  cost,
  ...more
}: Partial<Omit<Summary, 'cost'>> & { readonly cost?: Partial<Summary['cost']> } = {}): Summary {
  return {
    rows: { total: 0, completed: 0, failed: 0, toDo: 0 },
    failures: {},
    times: { firstStartAt: '', startedAt: '' },
    statusCalls: 0,
    starts: 1,
    thisStart: { ended: 0, completed: 0, failed: 0, unknown: 0 },
    prices: {},
    ...more,
    cost: {
      reported: 0,
      estimated: 0,
      unknown: 0,
      possiblyDouble: 0,
      unpriced: 0,
      drift: 0,
      byResolution: {},
      ...cost,
    },
  };
}

/** A start that has nothing to do. */
export function aheadWith(more: Partial<Ahead> = {}): Ahead {
  return {
    rows: 0,
    ended: 0,
    toSend: 0,
    retried: 0,
    retriedUnknown: 0,
    reopened: 0,
    redone: 0,
    doubled: 0,
    toPoll: 0,
    toDownload: 0,
    toHold: 0,
    unanswered: 0,
    heldPaid: 0,
    later: 0,
    invalid: 0,
    gone: 0,
    changedFailures: 0,
    endpoints: [],
    missing: [],
    newlySent: [],
    changed: { count: 0, ids: [] },
    replaced: { count: 0, ids: [] },
    fits: { rows: 0, estimated: 0 },
    price: { estimated: 0, unpriced: 0 },
    same: { rows: 0, cost: { estimated: 0, unpriced: 0 }, first: [] },
    ...more,
  };
}
