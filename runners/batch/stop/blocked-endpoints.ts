import type { RowFacts } from '../row/task.js';
import { whyBlocked } from './stop-causes.js';
import type { StopCause } from './stops.js';

/** Endpoints that the service does not know: their rows are left to be done. */
export class BlockedEndpoints {
  private readonly messages = new Map<string, string>();

  /** @param known endpoints to which rows are sent */
  constructor(
    private readonly known: readonly string[],
    private readonly hasRoutes: boolean,
  ) {}

  has({ kind, endpoint }: Pick<RowFacts, 'kind' | 'endpoint'>): boolean {
    return kind !== 'route' && this.messages.has(endpoint);
  }

  /**
   * Blocks an endpoint.
   *
   * @param message the service's message
   * @returns false if it is blocked already
   */
  add(endpoint: string, message: string): boolean {
    if (this.messages.has(endpoint)) return false;
    this.messages.set(endpoint, message);
    return true;
  }

  /** The cause of a stop if no row can be sent anywhere. */
  whyStop(message: string): StopCause | undefined {
    const { known: endpoints, hasRoutes } = this;
    return whyBlocked({ endpoints, hasRoutes }, this.ids, message);
  }

  get ids(): string[] {
    return [...this.messages.keys()];
  }

  /** The service's message for the first of them. */
  get message(): string {
    const [first = ''] = this.messages.values();
    return first;
  }
}
