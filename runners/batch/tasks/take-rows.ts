import type { PendingRow, RowRecords } from '../journal/journal.js';
import { describeInvalid } from '../manifest/problem-tally.js';
import { ManifestChangedError, ManifestError } from '../manifest/manifest-error.js';
import { asSelected, isPolledOnceMore, isRetried, leftTask } from '../row/left-rows.js';
import { decideRow, failsAsInvalid, type ManifestRules } from '../row/decide-row.js';
import type { InvalidRow, Row } from '../manifest/manifest-row.js';
import { byPriority } from '../manifest/columns/row-priority.js';
import { KnownIds, readRows } from './read-rows.js';
import { liveTasks, noteSparse } from './live-tasks.js';
import type { Growth } from './priced-bytes.js';
import type { Run } from '../context/run.js';
import { SelectRows } from '../manifest/rows/row-selection.js';
import { stopCauses } from '../stop/stop-causes.js';
import type { EndStatus } from '../row/row-status.js';
import { rowFactsOf, type Task } from '../row/task.js';

/**
 * The tasks of this start, each created when it is pulled: first rows that earlier starts bought, with accepted ones at
 * the front, then the rows of the manifest that have not ended. Ends when the run stops.
 */
export async function* takeRows(run: Run): AsyncGenerator<Task, void, void> {
  const { options, reopened } = run;
  const retried = (code: 'deadline' | 'download') =>
    options.retry.has(code) ? (row: RowRecords) => isRetried(code, asSelected(row), options) : undefined;
  const isExpired = (row: RowRecords) => reopened.polled.has(row.id) && isPolledOnceMore(row, options);
  for (const tasks of [
    () => pendingTasks(run, 'accepted'),
    () => endedTasks(run, 'deadline', 'accepted', retried('deadline')),
    () => endedTasks(run, 'expired', 'accepted', isExpired),
    () => pendingTasks(run, 'replied'),
    () => endedTasks(run, 'download', 'replied', retried('download')),
    () => endedTasks(run, 'completed', 'replied', reopened.forFiles?.lacks),
    () => newTasks(run),
  ])
    for await (const task of tasks()) {
      if (run.stops.isStopping) return;
      yield task;
    }
}

function newTasks(run: Run): AsyncIterable<Task> | Iterable<Task> {
  const { live } = run.options.manifest;
  if (live !== undefined) return liveTasks(run, live);
  return hasManifestTasks(run) ? manifestTasks(run) : [];
}

/** A manifest whose rows have all ended is not read again. */
function hasManifestTasks({ ahead, pending }: Run): boolean {
  const { toSend, toPoll, toDownload, toHold, invalid } = ahead;
  return toSend + toPoll + toDownload + toHold + invalid + pending.size > 0;
}

function* pendingTasks(run: Run, status: PendingRow['status']): Generator<Task> {
  for (const pending of run.journal.journal.recovered.pending.values()) {
    const task = pending.status === status ? leftTask(pending) : undefined;
    if (task !== undefined) yield run.options.identity.local ? ofEndedEmulator(task) : task;
  }
}

/** The emulator of an earlier start has ended, and its jobs with it: they are polled only once. */
function ofEndedEmulator(task: Task): Task {
  return task.what === 'poll' ? { ...task, wasExpired: true } : task;
}

/**
 * Rows that had ended and whose job is polled (`accepted`), or whose picture or files are downloaded (`replied`), once more.
 *
 * @param goesOn absent if none does
 */
async function* endedTasks(
  { journal }: Run,
  ended: EndStatus,
  status: 'accepted' | 'replied',
  goesOn: ((row: RowRecords) => boolean) | undefined,
): AsyncGenerator<Task> {
  if (goesOn === undefined) return;
  for await (const row of journal.journal.rowsIn([ended])) {
    const task = goesOn(row) ? leftTask({ ...row, status }) : undefined;
    if (task !== undefined) yield task;
  }
}

/** The rows of the manifest that have not ended, from the bytes that were priced, by their priority. */
async function* manifestTasks(run: Run): AsyncGenerator<Task> {
  const { options, journal, reopened, stops } = run;
  const { recovered } = journal.journal;
  // Rows to be redone are reopened by now, so contents need not be compared again, unless some rows did not fit under the cap.
  const rules = {
    retry: options.retry,
    mustHold: recovered.mustHold,
    changed: reopened.kept > 0 ? options.changed : ('keep' as const),
  };
  const select = new SelectRows(options);
  const read = () => readRows(options.disk, options.manifest, new KnownIds(recovered.rows));
  let isSending = false;
  try {
    for await (const item of byPriority(run.plan.priorities, read)) {
      const task = item.valid ? rowTask(run, item.row, { rules, select }) : refuseTask(run, item.row);
      if (task === 'over-cap') break;
      isSending ||= task?.what === 'send';
      if (item.valid && task?.what === 'send') await noteSparse(run, item.row);
      if (task !== undefined) yield task;
      if (item.valid && select.isFull && reopened.doubled === 0) break;
    }
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    const why = error instanceof ManifestChangedError ? 'manifestChanged' : 'manifestUnread';
    return void stops.stop(stopCauses[why](error.message, isSending));
  }
  const { growth } = options.manifest.bytes ?? {};
  if (growth !== undefined) run.events.next({ type: 'warning', ...grown(run, growth) });
}

/** @throws {ManifestChangedError} unless invalid rows are skipped: the check has found none */
function refuseTask({ options, journal }: Run, invalid: InvalidRow): Task | undefined {
  const { skipInvalid, manifest } = options;
  if (!skipInvalid)
    throw new ManifestChangedError(manifest.settings.name, describeInvalid(invalid).join('; '));
  const state = journal.journal.recovered.rows.get(invalid.key);
  return failsAsInvalid(state) ? { what: 'refuse', invalid } : undefined;
}

function rowTask(
  run: Run,
  row: Row,
  { rules, select }: { readonly rules: ManifestRules; readonly select: SelectRows },
): Task | 'over-cap' | undefined {
  const { recovered } = run.journal.journal;
  const state = recovered.rows.get(row.id);
  const spec = decideRow(row, state, rules);
  if (spec === undefined) return undefined;
  if ('reopen' in spec) {
    // Rows to be sent again are reopened by now, so this one has ended since the check and is left for a later start.
    if (spec.reopen !== 'redo' || !select.takes(row)) return undefined;
    // A row to be redone that does not fit under the cap stays as it is.
    const reached = () => stopCauses.capReached(run.money.ledger.snapshot());
    // The rows before it may not have reserved their prices yet, so the sentence has the money at the end.
    run.stops.stop({
      ...reached(),
      get reason() {
        return reached().reason;
      },
    });
    return 'over-cap';
  }
  if (!run.pending.has(row.id) && !select.takes(row)) return undefined;
  // Rows of an endpoint that the service does not know are left without a request for each.
  if (spec.what === 'send' && run.service.blocked.has(row)) return undefined;
  return { row: rowFactsOf(row), attempts: state?.attempts ?? 0, ...spec };
}

function grown(
  { options }: Run,
  { bytes, isInLine }: Growth,
): { code: 'manifest' | 'grown'; message: string } {
  const isLonger = isInLine && !options.manifest.settings.gzip;
  const lastRow = isLonger ? ' The last row was sent as it was priced, although its line is longer now.' : '';
  const message = `${options.manifest.settings.name} has grown by ${bytes} bytes since it was priced: what was appended waits for the next start.${lastRow}`;
  return { code: isLonger ? 'manifest' : 'grown', message };
}
