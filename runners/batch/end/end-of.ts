import { shellWords } from '../manifest/quote-value.js';
import type { Run } from '../context/run.js';
import type { RunEnd } from '../stop/worst-end.js';

/**
 * How a run ended: the stop that mattered most, else rows that are held, of whatever start, else what became of the rows of this
 * start.
 *
 * @param held ids of rows that are held as `unknown`, the first of them
 */
export function endOf(run: Run, held: readonly string[]): RunEnd {
  const { stops, journal, toDo, service } = run;
  const { end } = stops;
  const left = toDo.rows;
  if (end !== undefined) return { exitCode: end.exitCode, reason: withLeft(end.reason, left) };
  if (service.blocked.ids.length > 0)
    return { exitCode: 4, reason: withLeft(blockedReason(service.blocked), left) };
  const unknown = journal.tally.totals().rows.get('unknown') ?? 0;
  if (unknown > 0) return { exitCode: 6, reason: withLeft(heldReason(unknown, held, run.options.out), left) };
  const { ended, failed, completed } = journal.tally.thisStart;
  if (failed > 0) return { exitCode: 1, reason: withLeft(failedReason(failed, ended), left) };
  if (run.pictures.warned.has('none')) return { exitCode: 1, reason: withLeft(withoutPicture(ended), left) };
  if (ended === 0 && left === 0) return { exitCode: 0, reason: 'Nothing to do: every row had ended before.' };
  return { exitCode: 0, reason: withLeft(`${rows(completed)} completed.`, left) };
}

function withLeft(reason: string, left: number): string {
  return left === 0 ? reason : `${reason} ${rows(left)} still to be done.`;
}

function blockedReason({ ids, message }: Run['service']['blocked']): string {
  return `The service does not know ${ids.map((id) => `"${id}"`).join(', ')} (${message}). Check the endpoint and run again.`;
}

function heldReason(unknown: number, held: readonly string[], out: string): string {
  const named = `${held.map((id) => JSON.stringify(id)).join(', ')}${unknown > held.length ? ', …' : ''}`;
  const command = shellWords('millrace', 'settle', out, held[0] ?? 'ID');
  return `${rows(unknown)} may have been bought and ${unknown === 1 ? 'is' : 'are'} held as unknown (${named}): look at the account, then end each with ${command} and --job ID, --paid USD or --not-sent; or send them again with --retry unknown, which may pay twice.`;
}

function failedReason(failed: number, ended: number): string {
  return `${failed} of ${rows(ended)} failed: see failures.jsonl. What was not paid is sent again with --retry failed.`;
}

/** A run that nobody looks at must not end as if all pictures were there. */
function withoutPicture(ended: number): string {
  return `${rows(ended)} ended, and edits among them completed without a picture: they are paid, and what came stands as "output" in results.jsonl.`;
}

function rows(count: number): string {
  return `${count} ${count === 1 ? 'row' : 'rows'}`;
}
