import type { JobEvent } from '../contract/outcome.js';
import type { Desk } from '../operators/asking/exchange.js';
import type { UntilAborted } from '../operators/waiting/until-aborted.js';

/** What the endpoints of one client share. Nothing of it is shared between clients. */
export interface ClientState extends Omit<Desk, 'endpointId' | 'host' | 'quota'> {
  /** What all requests of an endpoint share. On a load-balanced route `endpointId` is the empty string. */
  readonly deskOf: (endpointId: string, baseUrl: string) => Desk;
  readonly apiKey: string | undefined;
  /** @throws InvalidOptionError when none is configured */
  readonly baseUrl: () => string;
  readonly untilAborted: UntilAborted;
  /** A name for a job that was given none. */
  readonly nextKey: (endpointId: string) => string;
  readonly tell: (event: JobEvent<unknown>, whose: { endpointId: string; key: string }) => void;
}

/** An event of any job, with whose it is. On a load-balanced route `endpointId` is the empty string. */
export type Activity = JobEvent<unknown> & { endpointId: string; key: string };
