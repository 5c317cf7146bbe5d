import type { OutcomeRecord, ReplyRecord } from '../../batch/journal/record.js';
import { unwritable } from '../../batch/sinks/line-json.js';
import type { Ending } from '../records/row-record.js';
import type { Answer } from '../store/answer.js';

/** How much is kept of the text of an answer that cannot be written. */
const mostCharacters = 2_000;

/**
 * What to write in place of an answer that the database refuses, to be tried in this order: the answer with the reason and
 * the beginning of its text as its output, with the reason alone, and an ending as unknown. A paid reply is kept as paid.
 */
export function insteadOf(answer: Answer, cause: unknown): readonly Answer[] {
  if (answer.is === 'again' || answer.is === 'stale') return [];
  const { item, attempt } = answer;
  const reason = plain(unwritable(cause));
  const texts = [plain(`${reason} ${beginningOf(answer)}`), reason];
  const message = plain(`The answer came and could not be kept, so it is not sent again. ${reason}`);
  return [...texts.flatMap((text) => shortened(answer, text)), { is: 'lost', item, attempt, message }];
}

function shortened(answer: Answer, output: string): Answer[] {
  if (answer.is === 'paid') return [{ ...answer, reply: { ...answer.reply, output } }];
  return answer.is === 'ended' ? [{ ...answer, ending: shortEnding(answer.ending, output) }] : [];
}

function shortEnding({ reply, outcome }: Ending, output: string): Ending {
  const short = reply && { ...reply, output };
  if (outcome === undefined) return { reply: short as ReplyRecord };
  return { ...(short && { reply: short }), outcome: shortOutcome(outcome, output) };
}

function shortOutcome(outcome: OutcomeRecord, message: string): OutcomeRecord {
  if (outcome.status === 'completed') return outcome;
  const { code, retryable, paid } = outcome.error;
  return { ...outcome, error: { code, message, retryable, paid } };
}

function beginningOf(answer: Answer): string {
  const ending = answer.is === 'ended' ? answer.ending : undefined;
  const { outcome } = ending ?? {};
  const reply = answer.is === 'paid' ? answer.reply : ending?.reply;
  const error = outcome?.status === 'failed' ? outcome.error : undefined;
  try {
    return `It begins: ${JSON.stringify(reply?.output ?? error)}`;
  } catch {
    return '';
  }
}

/** A database may have an encoding that lacks other characters. */
function plain(text: string): string {
  return text.slice(0, mostCharacters).replaceAll(/[^ -~]/g, '?');
}
