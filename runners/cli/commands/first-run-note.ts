import { basename, dirname } from 'node:path';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import { peekJournal } from '../../batch/journal/peek-journal.js';
import { formatMoney } from '../words/amounts.js';
import { plainText } from '../words/plain-text.js';
import { shellWords } from '../../batch/manifest/quote-value.js';
import { shownPath } from '../words/shown-path.js';

/**
 * What a person should know who takes the failures of one run as the manifest of another: the first run's cap and
 * decisions do not hold there. Empty for any other manifest.
 *
 * @param cwd paths are shown from here
 */
export async function firstRunNote(manifest: string, out: string, cwd: string): Promise<string[]> {
  const first = dirname(manifest);
  if (!/^failures\.(jsonl|csv)$/.test(basename(manifest)) || first === out) return [];
  const journal = await peekJournal(nodeDisk, first).catch(() => undefined);
  if (journal === undefined) return [];
  const { capUsd, manifests } = journal.recovered;
  const cap = typeof capUsd === 'number' ? `its cap of ${formatMoney(toMicroDollars(capUsd))}` : 'its cap';
  const [made, run] = [manifests.at(-1), shownPath(first, cwd)];
  const goOn =
    made === undefined
      ? ''
      : ` To go on in ${run}: ${shellWords('millrace', 'run', shownPath(made, cwd), '--out', run, '--retry', 'failed')}`;
  const text = `note: these are the failures of the run in ${run}, and they go into a run of their own, ${shownPath(out, cwd)}: ${cap} and what was decided there do not hold here.${goOn}`;
  return [plainText(text, 2000)];
}
