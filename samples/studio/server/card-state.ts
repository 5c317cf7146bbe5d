import { imageEditPrices, toUsd, type Failed, type ImageEditOutput, type JobEvent } from 'millrace';
import { type CardState, formatUsd, type Money } from '../messages.js';

export type Resolution = keyof typeof imageEditPrices;

/** A job's event in the words of a card; `before` is what the card shows until then. */
export function cardState(
  event: JobEvent<ImageEditOutput>,
  { before, resolution, money }: { before: CardState; resolution: Resolution; money: Money },
): CardState {
  if (event.type === 'submitting') return { phase: 'sending' };
  if (event.type === 'accepted') return { phase: 'queued' };
  if (event.type === 'status') return { phase: event.status === 'IN_PROGRESS' ? 'working' : 'queued' };
  if (event.type === 'waiting') {
    const words = `The service is busy or cannot be reached: again in ${Math.ceil(event.forMs / 1000)} s`;
    return {
      phase: before.phase === 'queued' || before.phase === 'working' ? before.phase : 'sending',
      words,
    };
  }
  const { outcome } = event;
  if (outcome.status === 'failed')
    return { phase: 'failed', words: failureWords(outcome, resolution, money) };
  const imageUrl = outcome.output.image_url ?? outcome.output.result;
  if (imageUrl === undefined)
    return { phase: 'failed', words: 'The service was paid, but sent no address of a picture.' };
  return {
    phase: 'done',
    imageUrl,
    costUsd: outcome.costUsd,
    ...(outcome.delayTimeMs === undefined ? {} : { waitedMs: outcome.delayTimeMs }),
    ...(outcome.executionTimeMs === undefined ? {} : { workedMs: outcome.executionTimeMs }),
  };
}

const paidWords = {
  no: 'Nothing was charged.',
  maybe: 'In doubt: it may have been charged, and its price stays reserved.',
  yes: 'It was charged.',
};

function failureWords({ code, message, detail, paid }: Failed, resolution: Resolution, money: Money): string {
  if (code === 'over-budget') {
    const price = formatUsd(toUsd(imageEditPrices[resolution]));
    const left = formatUsd(Math.max(0, money.capUsd - money.spentUsd - money.heldUsd));
    return `Not sent: it costs ${price}, and ${left} is left of the ${formatUsd(money.capUsd)} that may be spent.`;
  }
  const why =
    code === 'job-cancelled'
      ? 'Cancelled.'
      : code === 'rejected' || code === 'job-failed'
        ? `The service could not make this picture: ${plainly(detail ?? message)}.`
        : `${message}.`;
  return `${why.replace(/\.\.$/, '.')} ${money.isRehearsal ? 'Rehearsal, nothing spent.' : paidWords[paid]}`;
}

/** Without the request that brought the news, and without the address of the reference, which says nothing to a person. */
function plainly(message: string): string {
  return message
    .replace(/^(?:GET|POST) \S+: (?:FAILED: )?/, '')
    .replace(/invalid image URL \S+/, 'the reference cannot be read:');
}
