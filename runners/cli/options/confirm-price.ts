import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { ask, canAsk } from '../io/ask.js';
import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { formatMoney } from '../words/amounts.js';

/** Above this a person on a terminal is asked. */
const askAbove = toMicroDollars(25);
/** Above this a run without a person needs `--yes` or `--max-cost`. */
const refuseAbove = toMicroDollars(100);

/**
 * Lets a run begin at its price, or asks, or refuses with `UsageError`. Nothing has been sent yet.
 *
 * @param price what the run may buy now; under a cap at most the cap is at stake
 */
export async function confirmPrice(
  price: MicroDollars,
  consent: { readonly yes: boolean; readonly maxCost?: number | undefined },
  io: Pick<CliIo, 'stdin' | 'stderr'>,
  stopped?: AbortSignal,
): Promise<'go' | 'interrupted'> {
  if (consent.yes) return 'go';
  const cap = consent.maxCost === undefined ? Number.POSITIVE_INFINITY : toMicroDollars(consent.maxCost);
  const stake = Math.min(price, cap);
  if (canAsk(io)) {
    const answer =
      stake <= askAbove ? 'yes' : await ask(`This may cost ${formatMoney(stake)}. Go on?`, io, stopped);
    if (answer !== 'no') return answer === 'yes' ? 'go' : answer;
    throw new UsageError(['not started, nothing was sent']);
  }
  if (price <= refuseAbove || consent.maxCost !== undefined) return 'go';
  throw new UsageError(
    [
      `this run is priced at ${formatMoney(price)}, above ${formatMoney(refuseAbove)}, and nobody is here to be asked`,
    ],
    'agree to it with --yes, or set a cap with --max-cost USD; nothing was sent',
  );
}
