import { channel } from 'node:diagnostics_channel';
import { lateGotTransport } from '../transport/got/late-got.js';
import type { ReplyRoom } from '../operators/requests/reply-room.js';
import { clientOn, type Client } from './client-on.js';
import type { ClientOptions } from './client-state.js';

/** The channels of Node.js on which the requests and the job events of all clients are published. */
export const channels = { request: channel('millrace:request'), job: channel('millrace:job') };

/** Like `createClient`, but loads got only with the first request, and its outputs keep the numbers that JSON.parse changes. */
export function createLateClient(options: ClientOptions = {}, replies?: ReplyRoom): Client {
  const platform = { createTransport: lateGotTransport, channels, hasExactNumbers: true };
  return clientOn(options, { ...platform, ...(replies && { replies }) });
}
