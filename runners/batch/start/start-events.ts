import type { RunEvent } from '../context/run-event.js';
import type { Run } from '../context/run.js';
import { moneyEvent } from '../end/end-row.js';
import { countOf, quoteValue, someOf } from '../manifest/quote-value.js';

/** The events that a run reports when it begins: what it continues, and warnings for the user. */
export function startEvents(run: Run): RunEvent[] {
  return [started(run), ...warnings(run), ...run.reopened.held.map(heldRow), moneyEvent(run)];
}

function started({ ahead, reopened, plan, toDo }: Run): RunEvent {
  return {
    type: 'started',
    rowsTotal: ahead.ended + toDo.rows - ahead.later + reopened.held.length,
    alreadyEnded: ahead.ended,
    taken: {
      polled: ahead.toPoll,
      downloaded: ahead.toDownload,
      held: ahead.toHold + reopened.held.length,
      retried: ahead.retried + ahead.redone + reopened.doubled,
    },
    plan,
  };
}

function* warnings({
  plan,
  ahead,
  reopened,
  journal,
  options,
  polling,
  lostPictures,
}: Run): Generator<RunEvent> {
  for (const message of plan.warnings) yield { type: 'warning', code: 'manifest', message };
  if (polling.problem !== undefined) yield { type: 'warning', code: 'poll-law', message: polling.problem };
  const { changed, changedFailures } = ahead;
  if (changed.count > 0 && options.changed !== 'keep')
    yield { type: 'warning', code: 'changed', message: changedText(changed, options.changed === 'redo') };
  if (ahead.replaced.count > 0) {
    const others = journal.journal.recovered.manifests.filter((path) => path !== options.manifest.path);
    yield { type: 'warning', code: 'changed', message: replacedText(ahead.replaced, others) };
  }
  if (changedFailures > 0) {
    const message =
      changedFailures === 1
        ? '1 failed row has changed since: it stays failed until --retry sends it again.'
        : `${changedFailures} failed rows have changed since: they stay failed until --retry sends them again.`;
    yield { type: 'warning', code: 'changed', message };
  }
  if (reopened.doubled > 0) {
    const rows = `${countOf(reopened.doubled, 'row')} ${reopened.doubled === 1 ? 'is' : 'are'}`;
    const message = `${rows} sent again though the service may have accepted the first request: this may pay twice.`;
    yield { type: 'warning', code: 'double', message };
  }
  const { tornBytes, heldUpToRow } = journal.journal.recovered;
  if (tornBytes > 0) {
    const message = `The last start died while it wrote: ${tornBytes} bytes of an unfinished record were dropped.`;
    yield { type: 'warning', code: 'journal', message };
  }
  if (lostPictures) {
    const message =
      'The folder "images" is gone, and pictures of earlier starts with it: refetch saves those again whose URLs are still valid, and buys nothing.';
    yield { type: 'warning', code: 'picture', message };
  }
  const unknown = ahead.toHold - ahead.heldPaid;
  if (heldUpToRow !== undefined && unknown > 0) {
    const message = `The journal was repaired: ${unknown} rows whose purchase may be lost are in doubt: none is sent again.`;
    yield { type: 'warning', code: 'held', message };
  }
}

/** At most this many manifests that may have a row are named. */
const manifestsNamed = 3;

function changedText({ count, ids, boughtAs }: Run['ahead']['changed'], redoes: boolean): string {
  const named = someOf(ids, count);
  const [rows, were, they, them] =
    count === 1 ? ['row has', 'it was', 'It is', 'it'] : ['rows have', 'they were', 'They are', 'them'];
  const again = redoes ? '' : `; --changed redo buys ${them} again, --changed keep ends this warning`;
  const moved = boughtAs === undefined ? '' : ` ${movedText(boughtAs)}`;
  return `${count} ${rows} changed since ${were} bought: ${named}. ${they} kept${again}.${moved}`;
}

const movedShown = 3;

/**
 * Describes rows whose requests the run has bought for other rows: a line was inserted above row numbers, or ids were sorted anew.
 *
 * @param boughtAs by the id of the row, the id under which its request was bought
 */
export function movedText(boughtAs: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(boughtAs);
  const shown = pairs
    .slice(0, movedShown)
    .map(([id, by]) => `row ${quoteValue(id)} asks for what row ${quoteValue(by)} bought`);
  const more = pairs.length > movedShown ? ', and so on' : '';
  return `${capital(shown.join(', '))}${more}: the ids have probably moved to other rows. Give the rows the ids they had, or their results belong to other lines and to buy them again pays twice.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @param manifests the run's other manifests, the latest one last */
function replacedText({ count, ids }: Run['ahead']['replaced'], manifests: readonly string[]): string {
  const [rows, one, other] =
    count === 1
      ? ['1 row waits for another version, which is', 'the one', 'This one is']
      : [`${countOf(count, 'row')} wait for other versions, which are`, 'those', 'These are'];
  const named =
    manifests.length === 0 ? '' : ` (${manifests.slice(-manifestsNamed).toReversed().join(', or ')})`;
  return `${rows} to replace ${one} in this manifest: ${someOf(ids, count)}. ${other} not bought again; run the manifest that has the other${count === 1 ? ' one' : 's'}${named}.`;
}

function heldRow({ id, row, outcome }: Run['reopened']['held'][number]): RunEvent {
  const message = outcome.status === 'failed' ? outcome.error.message : '';
  return { type: 'ended', id, row, status: 'unknown', cost: outcome.cost, message };
}
