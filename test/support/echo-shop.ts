import { defer, from, map } from 'rxjs';
import { clientOver } from './client-over.js';
import { replied } from './virtual-time.js';

/** A turn of the event loop. */
export const turn = () => new Promise(setImmediate);

/** A shop whose jobs end in a turn of their own, or at once. */
export function echoShop(how: 'later' | 'at once' = 'later') {
  let ids = 0;
  const { client, sent } = clientOver(undefined, {
    transport: (request) => {
      sent.push(request);
      const reply = () => replied(200, { id: `job-${++ids}`, status: 'COMPLETED', output: {} });
      return how === 'at once' ? from([reply()]) : defer(turn).pipe(map(reply));
    },
  });
  const endpoint = client.queue('echo');
  return { buy: (row: number) => endpoint.run({ row }), sent };
}
