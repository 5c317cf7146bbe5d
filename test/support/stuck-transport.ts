import { concatMap, defer, firstValueFrom, from, map, of, ReplaySubject } from 'rxjs';
import { createGotTransport } from '../../src/transport/got/got-transport.js';
import type { Transport } from '../../src/transport/transport.js';

/**
 * Where a worker stops dead at its first row. `intended`: the intent is durable, nothing is sent. `answered`: the POST has its answer,
 * which is not written. `accepted`: the id is durable. `polled`: a status call has its answer.
 */
export type Step = 'intended' | 'answered' | 'accepted' | 'polled';

/** A transport that stops dead at a step until `goOn` is called, and how to know that it has. */
export function stuckAt(step: Step, transport: Transport = createGotTransport()) {
  const going = new ReplaySubject<void>(1);
  const stuck = new ReplaySubject<void>(1);
  const seen = { stuck: false };
  const wait = async (): Promise<void> => {
    seen.stuck = true;
    stuck.next();
    await firstValueFrom(going, { defaultValue: undefined });
  };
  const isHere = (method: string): boolean =>
    !seen.stuck && (step === 'intended' || step === 'answered') === (method === 'POST');
  const halting: Transport = (request) => {
    if (!isHere(request.method)) return transport(request);
    if (step === 'intended' || step === 'accepted')
      return defer(() => from(wait())).pipe(concatMap(() => transport(request)));
    return transport(request).pipe(
      concatMap((reply) => (seen.stuck ? of(reply) : defer(() => from(wait())).pipe(map(() => reply)))),
    );
  };
  const isStuck = firstValueFrom(stuck, { defaultValue: undefined });
  return { transport: halting, seen, isStuck, goOn: () => going.next() };
}
