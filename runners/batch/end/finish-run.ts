import { lastValueFrom } from 'rxjs';
import { type Summary, writeSummary } from '../sinks/summary-file.js';
import { describeFault } from '../stop/describe-fault.js';
import { endOf } from './end-of.js';
import { exitOf } from '../stop/exit-of.js';
import { keepPollLaw } from '../context/keep-poll-law.js';
import type { Run } from '../context/run.js';
import { summaryOf } from './summary-of.js';
import { worstEnd, type RunEnd } from '../stop/worst-end.js';

const heldShown = 3;

/** The last words of a run: its files made durable, its end in the journal, its summary. */
export async function finishRun(run: Run, error?: unknown): Promise<RunEnd & { readonly summary: Summary }> {
  await run.money.day?.flush();
  const dying = run.pictures.expiring.warning(run.options.scheduler.now());
  if (dying !== undefined) run.events.next({ type: 'warning', code: 'expiry', message: dying });
  const ended = endOf(run, await heldIds(run));
  let end = error === undefined ? ended : worse(ended, exitOf(error));
  const note = (fault: unknown): void => {
    end = worse(end, exitOf(fault));
    run.log.write('error', { err: describeFault(fault) }, 'the end of the run could not be written');
  };
  if (error !== undefined)
    run.log.write('fatal', { err: describeFault(error) }, 'the run was ended by an error');
  const { journal, options, projections } = run;
  await projections.finish().catch(note);
  await keepPollLaw(run);
  const stop = { k: 'stop' as const, at: options.scheduler.now(), exitCode: end.exitCode };
  const covered = await projections.sync().catch(note);
  const isStopped = await lastValueFrom(journal.append(stop)).then(
    () => true,
    (fault: unknown) => (note(fault), false),
  );
  // What follows the last outcome in the journal has no lines: the files tell of all of it. But an outcome may have been
  // left on its way to them, when the run was told to end at once.
  const isWhole = covered && isStopped && covered.records >= journal.lastOutcome;
  const covers = isWhole ? { ...covered, records: journal.records } : covered;
  const summary = summaryOf(run, covers ?? undefined, end);
  await writeSummary(options.disk, options.out, summary).catch(note);
  run.log.write('info', { ...end }, 'run ended');
  return { ...end, summary: { ...summary, thisStart: { ...summary.thisStart, ...end } } };
}

/** Of this start, and of earlier ones where nothing has become of them since. */
async function heldIds({ journal }: Run): Promise<string[]> {
  const ids = new Set(journal.tally.thisStart.held);
  const all = journal.tally.totals().rows.get('unknown') ?? 0;
  if (all <= ids.size) return [...ids];
  try {
    for await (const { id } of journal.journal.rowsIn(['unknown'])) if (ids.add(id).size >= heldShown) break;
  } catch {
    // A journal that cannot be read is said below.
  }
  return [...ids];
}

function worse(one: RunEnd, other: RunEnd): RunEnd {
  return worstEnd([one, other]) ?? one;
}
