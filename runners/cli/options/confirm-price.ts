import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { SameRows } from '../../batch/manifest/duplicates/same-requests.js';
import { ask, canAsk } from '../io/ask.js';
import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { countOf, formatMoney } from '../words/amounts.js';

/** Above this a start is agreed to. */
const askAbove = toMicroDollars(25);

/** What a start may buy, under the cap in force. */
export interface Stake {
  readonly estimated: MicroDollars;
  /** Rows without a known price: named in the question, and not counted. */
  readonly unpriced: number;
}

/**
 * Lets a start begin, or asks on the terminal, or throws `UsageError`: a start that may buy for more than $25 needs the
 * agreement of a person. Where it cannot ask, `--yes` or a cap is the agreement. Nothing has been sent yet.
 *
 * @param consent `isCapped`: one of the two caps is in force, whoever set it
 */
export async function confirmPrice(
  { estimated, unpriced }: Stake,
  consent: { readonly yes: boolean; readonly isCapped: boolean },
  io: Pick<CliIo, 'stdin' | 'stderr'>,
  stopped?: AbortSignal,
): Promise<'go' | 'interrupted'> {
  if (consent.yes || estimated <= askAbove) return 'go';
  const uncounted = unpriced > 0 ? `, and ${countOf(unpriced, 'row')} of no known price are not counted` : '';
  const price = `${formatMoney(estimated)}${uncounted}`;
  if (canAsk(io)) {
    const answer = await ask(`This may cost ${price}. Go on?`, io, stopped);
    if (answer !== 'no') return answer === 'yes' ? 'go' : answer;
    throw new UsageError(['not started, nothing was sent']);
  }
  if (consent.isCapped) return 'go';
  throw new UsageError(
    [
      `this start may buy for ${price}. Above ${formatMoney(askAbove)} it asks, and it cannot ask here: ${whyNot(io)} no terminal`,
    ],
    'agree to it with --yes, or set a cap with --max-cost USD; nothing was sent',
  );
}

/** Asks on a terminal about rows that would be bought a second time under another id. Where it cannot ask it goes on: the plan names them. */
export async function confirmSame(
  { rows, cost }: SameRows,
  { yes }: { readonly yes: boolean },
  io: Pick<CliIo, 'stdin' | 'stderr'>,
  stopped?: AbortSignal,
): Promise<'go' | 'interrupted'> {
  if (rows === 0 || yes || !canAsk(io)) return 'go';
  const again = `${countOf(rows, 'row asks', 'rows ask')} for exactly what another row asks for (${formatMoney(cost.estimated)})`;
  const answer = await ask(`${again}. Buy them too?`, io, stopped);
  if (answer === 'no') throw new UsageError(['not started, nothing was sent']);
  return answer === 'yes' ? 'go' : answer;
}

function whyNot({ stdin, stderr }: Pick<CliIo, 'stdin' | 'stderr'>): string {
  const missing = [stdin.isTTY !== true && 'stdin', stderr.isTTY !== true && 'stderr'];
  const names = missing.filter((name) => name !== false);
  return `${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'}`;
}
