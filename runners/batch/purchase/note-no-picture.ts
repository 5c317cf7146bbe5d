import type { Run } from '../context/run.js';
import type { RowFacts } from '../row/task.js';

/** Tells, once a start, of an edit that is paid for and came without a picture: it completed, and nothing was to be saved. */
export function noteNoPicture(run: Run, { id, request }: RowFacts): void {
  if (request.kind !== 'edit' || run.picturesTold.has('none')) return;
  run.picturesTold.add('none');
  const message = `Row "${id}" completed, and no picture is in its reply: what came stands as "output" in results.jsonl. Others like it are not told of.`;
  run.events.next({ type: 'warning', code: 'picture', message });
}
