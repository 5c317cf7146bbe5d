import { lastValueFrom } from 'rxjs';
import { type Summary, writeSummary } from '../sinks/summary-file.js';
import { describeFault, exitOf } from '../stop/exit-of.js';
import { keepPolling } from '../context/learned-polling.js';
import type { Run } from '../context/run.js';
import type { WarningCode } from '../context/run-event.js';
import type { StartCounts } from '../row/totals.js';
import { continueNamedRows } from './named-rows.js';
import { summaryOf } from './summary-of.js';
import { worstEnd, type RunEnd } from '../stop/worst-end.js';
import { countOf, firstOf, formatCount, shellWords } from '../manifest/quote-value.js';

const heldShown = 3;

/** Ends a run: makes its files durable, writes its end to the journal, and writes its summary. */
export async function finishRun(run: Run, error?: unknown): Promise<RunEnd & { readonly summary: Summary }> {
  await run.day?.flush();
  const warn = (code: WarningCode, message: string): void =>
    run.events.next({ type: 'warning', code, message });
  const dying = run.pictures.expiring.warning(run.options.scheduler.now());
  if (dying !== undefined) warn('expiry', dying);
  const { addresses, pictureless, previews } = run.pictures;
  const { edits } = pictureless;
  const { shared } = addresses;
  if (shared > 1)
    warn(
      'picture',
      `${shared} edits of this start were answered with the address of another row's picture, and are paid: look at "image" in results.jsonl before more of them are sent.`,
    );
  if (edits > 1)
    warn(
      'picture',
      `${edits} edits completed in this start without a picture in their replies, and are paid: look at "output" in results.jsonl before more of them are sent.`,
    );
  if (previews.edits > 1)
    warn(
      'picture',
      `${previews.edits} edits of this start have the picture in their replies, because the one at its URL could not be fetched: it may be a smaller preview. "image.problem" in results.jsonl says why; \`refetch\` tries the URLs again.`,
    );
  if (run.callbacks?.isUsed === false && run.journal.tally.thisStart.ended > 0)
    warn('manifest', unusedCallbacks);
  let end = error === undefined ? undefined : exitOf(error);
  const note = (fault: unknown): void => {
    end = end === undefined ? exitOf(fault) : worse(end, exitOf(fault));
    run.log.write('error', { err: describeFault(fault) }, 'the end of the run could not be written');
  };
  if (error !== undefined)
    run.log.write('fatal', { err: describeFault(error) }, 'the run was ended by an error');
  const { journal, options, projections } = run;
  await projections.finish().catch(note);
  await keepPolling(run);
  // A failure of the journal was reported when it happened.
  await continueNamedRows(run).catch(() => undefined);
  const covered = await projections.sync().catch(note);
  end = worse(endOf(run, await heldIds(run)), end);
  const stop = { k: 'stop' as const, at: options.scheduler.now(), exitCode: end.exitCode };
  const isStopped = await lastValueFrom(journal.append(stop)).then(
    () => true,
    (fault: unknown) => (note(fault), false),
  );
  // Records after the last outcome have no lines, so the files cover them too. But if the run was stopped at once, the
  // lines of an outcome may be missing.
  const isWhole = covered && isStopped && covered.records >= journal.lastOutcome;
  const covers = isWhole ? { ...covered, records: journal.records } : covered;
  const summary = summaryOf(run, covers ?? undefined, end);
  await writeSummary(options.disk, options.out, summary).catch(note);
  run.log.write('info', { ...end }, 'run ended');
  return { ...end, summary: { ...summary, thisStart: { ...summary.thisStart, ...end } } };
}

const unusedCallbacks =
  'No row of this start went to /run: rows of /runsync and of routes are not called back, so --webhook-url had no effect (--mode async).';

/** Ids of held rows, those of this start first. Ids of earlier starts are read only until enough are found. */
async function heldIds({ journal }: Run): Promise<string[]> {
  const isHeld = (id: string): boolean => journal.tally.statusOf(id) === 'unknown';
  const ids = new Set(journal.tally.thisStart.held.filter(isHeld));
  const all = journal.tally.totals().rows.get('unknown') ?? 0;
  if (all <= ids.size) return [...ids];
  try {
    // The journal finds the unknown rows of earlier starts; callbacks may have named their jobs since.
    for await (const { id } of journal.journal.rowsIn(['unknown']))
      if (isHeld(id) && ids.add(id).size >= heldShown) break;
  } catch {
    // An unreadable journal is reported below.
  }
  return [...ids];
}

function worse(one: RunEnd, other: RunEnd = one): RunEnd {
  return worstEnd([one, other]) ?? one;
}

/**
 * How a run ended: the most important stop; without one, held rows of any start; otherwise the results of this start's rows.
 *
 * @param held ids of the first rows that are held as `unknown`
 */
export function endOf(run: Run, held: readonly string[]): RunEnd {
  const { stops, journal, toDo, service, money } = run;
  const { end } = stops;
  const left = toDo.rows;
  const leaving = (cause: RunEnd): RunEnd => ({ ...cause, reason: withLeft(cause.reason, left) });
  if (end !== undefined) return leaving(end);
  if (service.blocked.ids.length > 0)
    return { exitCode: 4, reason: withLeft(blockedReason(service.blocked), left) };
  if (money.full.areThere && left > 0) return leaving(money.full.end);
  const unknown = journal.tally.totals().rows.get('unknown') ?? 0;
  if (unknown > 0) return { exitCode: 6, reason: withLeft(heldReason(unknown, held, run.options), left) };
  const { ended, failed, completed } = journal.tally.thisStart;
  if (failed > 0)
    return { exitCode: 1, reason: withLeft(failedReason(journal.tally.thisStart, run.options), left) };
  if (ended === 0 && left === 0) return { exitCode: 0, reason: nothingToDo(run) };
  return { exitCode: 0, reason: withLeft(`${countOf(completed, 'row')} completed.`, left) };
}

function nothingToDo({ ahead, options, journal }: Run): string {
  const { live } = options.manifest;
  if (live === undefined && ahead.rows === 0) return 'Nothing to do: the manifest has no rows.';
  const isEmpty = live !== undefined && journal.tally.totals().rows.size === 0;
  return `Nothing to do: ${isEmpty ? 'no row has arrived' : 'every row had ended before'}.`;
}

function withLeft(reason: string, left: number): string {
  return left === 0 ? reason : `${reason} ${countOf(left, 'row')} to go.`;
}

function blockedReason({ ids, message }: Run['service']['blocked']): string {
  return `The service does not know ${ids.map((id) => `"${id}"`).join(', ')} (${message}). Check the endpoint and run again.`;
}

function heldReason(unknown: number, held: readonly string[], { out, identity }: Run['options']): string {
  const named = held.map((id) => JSON.stringify(id));
  const are = unknown === 1 ? 'is' : 'are';
  return `${countOf(unknown, 'row')} ${are} in doubt: charged or not, nobody knows yet (${firstOf(named, unknown)}). ${identity.local ? 'In a real run, look' : 'Look'} at the account; \`${shellWords('millrace', 'settle', out)}\` lists the ways to decide.`;
}

/** Paid rows have not failed: they are downloaded later. */
function failedReason(
  { failed, notDownloaded, ended }: StartCounts,
  { identity }: Pick<Run['options'], 'identity'>,
): string {
  const lost = failed - notDownloaded;
  const [is, was] = notDownloaded === 1 ? ['is', 'was'] : ['are', 'were'];
  const paid = identity.local ? `${was} not downloaded` : `${is} paid and still to be downloaded`;
  if (lost === 0)
    return `${formatCount(notDownloaded)} of ${countOf(ended, 'row')} ${paid}: see failures.jsonl.`;
  const more = notDownloaded > 0 ? `, ${formatCount(notDownloaded)} more ${paid}` : '';
  return `${formatCount(lost)} of ${countOf(ended, 'row')} failed${more}: see failures.jsonl.`;
}
