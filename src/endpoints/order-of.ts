import { InvalidOptionError } from '../contract/millrace-error.js';
import type { Outcome } from '../contract/outcome.js';
import type { StandardSchema } from '../contract/standard-schema.js';
import type { Order } from '../operators/purchase/order.js';
import type { ResolvedQueueOptions } from '../policy/queue-options.js';
import type { CallOptions } from './call-options.js';
import { checkOutput } from './check-output.js';
import type { ClientState } from './client-state.js';

interface Terms<O> {
  /** Endpoint id; the empty string on a route. */
  readonly endpoint: string;
  /** What keys begin with. */
  readonly name: string;
  readonly options: ResolvedQueueOptions;
  readonly call: CallOptions<O>;
  readonly output: StandardSchema<unknown, O> | undefined;
}

/** What all calls of a client have in common. @throws InvalidOptionError for a deadline that is none */
export function orderOf<O>(
  client: ClientState,
  { endpoint, name, options, call, output }: Terms<O>,
): Omit<Order<O>, 'request' | 'purpose' | 'sync'> {
  const { key = client.nextKey(name), deadlineMs = options.deadlineMs, signal, checkpoint, variant } = call;
  if (!(deadlineMs >= 0))
    throw new InvalidOptionError('deadlineMs', `is no number from 0 on (got ${deadlineMs})`);
  const whose = { endpointId: endpoint, key };
  return {
    key,
    endpoint,
    variant,
    options: deadlineMs === options.deadlineMs ? options : { ...options, deadlineMs },
    check: output === undefined ? unchecked<O> : (outcome) => checkOutput(output, outcome),
    checkpoint,
    untilAborted: client.untilAborted(signal),
    tell: (event) => client.tell(event, whose),
  };
}

function unchecked<O>(outcome: Outcome<unknown>): [Outcome<O>] {
  return [outcome as Outcome<O>];
}
