import type { PendingRow } from '../journal/journal.js';
import { describeInvalid } from '../manifest/problem-tally.js';
import { ManifestChangedError } from '../manifest/manifest-error.js';
import { isAskedAgain, isTakenUp, leftTask } from '../row/left-rows.js';
import { decideRow, rulesOf, manifestTask } from '../row/decide-row.js';
import { KnownIds } from './known-ids.js';
import { liveTasks } from './live-tasks.js';
import type { Growth } from './priced-bytes.js';
import { readRows } from './read-rows.js';
import type { Run } from '../context/run.js';
import { SelectRows } from './select-rows.js';
import { stopCauses } from '../stop/stop-causes.js';
import type { Task } from '../row/task.js';

/**
 * What this start has to do, each when it is asked for: first what earlier starts bought, those accepted first in front,
 * then the rows of the manifest that have not ended. Ends when the run stops.
 */
export async function* takeRows(run: Run): AsyncGenerator<Task, void, void> {
  for await (const task of allTasks(run)) {
    if (run.stops.isStopping) return;
    yield task;
  }
}

async function* allTasks(run: Run): AsyncGenerator<Task, void, void> {
  yield* pendingTasks(run, ['accepted']);
  yield* retakenTasks(run, 'deadline');
  yield* expiredTasks(run);
  yield* pendingTasks(run, ['replied']);
  yield* retakenTasks(run, 'download');
  if (run.options.manifest.live !== undefined) yield* liveTasks(run, run.options.manifest.live);
  else if (hasManifestTasks(run)) yield* manifestTasks(run);
}

/** A manifest whose rows have all ended is not read another time. */
function hasManifestTasks({ ahead, pending }: Run): boolean {
  const { toSend, toPoll, toDownload, toHold, invalid } = ahead;
  return toSend + toPoll + toDownload + toHold + invalid + pending.size > 0;
}

function* pendingTasks(run: Run, statuses: readonly PendingRow['status'][]): Generator<Task> {
  for (const pending of run.journal.journal.recovered.pending.values()) {
    if (!statuses.includes(pending.status)) continue;
    const task = leftTask(pending);
    if (task !== undefined) yield task;
  }
}

/** Rows that had ended, and whose job or picture is asked for once more. */
async function* retakenTasks(run: Run, code: 'deadline' | 'download'): AsyncGenerator<Task> {
  const { options, journal } = run;
  if (!options.retry.has(code)) return;
  for await (const ended of journal.journal.rowsIn([code])) {
    if (!isTakenUp(code, ended.id, options)) continue;
    const task = leftTask({ ...ended, status: code === 'deadline' ? 'accepted' : 'replied' });
    if (task !== undefined) yield task;
  }
}

async function* expiredTasks({ options, journal, taken }: Run): AsyncGenerator<Task> {
  for await (const ended of journal.journal.rowsIn(['expired'])) {
    const isAsked = taken.polled.has(ended.id) && isAskedAgain(ended, options);
    const task = isAsked ? leftTask({ ...ended, status: 'accepted' }) : undefined;
    if (task !== undefined) yield task;
  }
}

/** The rows of the manifest that have not ended, of the bytes that were priced. */
async function* manifestTasks(run: Run): AsyncGenerator<Task> {
  let isSending = false;
  try {
    for await (const task of decidedTasks(run)) {
      if (task.what === 'refuse' && !run.options.skipInvalid)
        throw new ManifestChangedError(
          run.options.manifest.settings.name,
          describeInvalid(task.invalid).join('; '),
        );
      isSending ||= task.what === 'send';
      yield task;
    }
  } catch (error) {
    if (!(error instanceof ManifestChangedError)) throw error;
    run.stops.stop(stopCauses.manifestChanged(error.message, isSending));
    return;
  }
  const { growth } = run.options.manifest.bytes ?? {};
  if (growth !== undefined)
    run.events.next({ type: 'warning', code: 'manifest', message: grown(run, growth) });
}

async function* decidedTasks(run: Run): AsyncGenerator<Task> {
  const { options, journal } = run;
  const { recovered } = journal.journal;
  const { rows } = recovered;
  // What is redone has been taken up by now: no content is compared again, unless some rows did not fit under the cap.
  const rules = rulesOf({ ...options, changed: run.taken.kept > 0 ? options.changed : 'keep' }, recovered);
  const select = new SelectRows(options);
  for await (const item of readRows(options.disk, options.manifest, new KnownIds(rows))) {
    if (!item.valid) {
      const isKnown = options.skipInvalid && rows.get(item.row.key)?.status === 'invalid-row';
      if (!isKnown) yield { what: 'refuse', invalid: item.row };
      continue;
    }
    const { row } = item;
    const spec = decideRow(row, rows.get(row.id), rules);
    if (spec === undefined) continue;
    // A row to be redone that does not fit under the cap stays as it is.
    if ('reopen' in spec && spec.reopen === 'redo' && select.takes(row.id))
      return void run.stops.stop(stopCauses.capReached(run.money.ledger.snapshot()));
    // What is to be taken up again has been by now: the rest has ended since the check, and is for a later start.
    if ('reopen' in spec || !(run.pending.has(row.id) || select.takes(row.id))) continue;
    const task = manifestTask(row, spec, recovered.attemptsOf(row.id));
    // Rows of an endpoint that the service does not know are left, not asked for one by one.
    if (task.what !== 'send' || !run.service.blocked.has(task.row)) yield task;
    if (select.isFull && run.taken.doubled === 0) return;
  }
}

function grown({ options }: Run, { bytes, isInLine }: Growth): string {
  const lastRow =
    isInLine && !options.manifest.settings.gzip
      ? ' The last row was taken as it was priced, though its line goes on now.'
      : '';
  return `${options.manifest.settings.name} has grown by ${bytes} bytes since it was priced: what was appended waits for the next start.${lastRow}`;
}
