import type { GateRequest } from './gate.js';

type Endpoint = Pick<GateRequest, 'host' | 'endpointId'>;

/** Idle values are not removed before there are this many values. */
const fewest = 64;

/**
 * A value for each endpoint, created on first use. Once there are many, those for which `isIdle` is true are removed, so that
 * the map does not outgrow the endpoints in use.
 */
export class EndpointMap<T> {
  readonly #hosts = new Map<string, Map<string, T>>();
  #count = 0;
  #sweepAt = fewest;
  #last: { host: string; endpointId: string; value: T } | undefined;

  constructor(
    private readonly make: (endpoint: Endpoint) => T,
    private readonly isIdle: (value: T) => boolean,
  ) {}

  /** How many endpoints are known. */
  get size(): number {
    return this.#count;
  }

  of({ host, endpointId }: Endpoint): T {
    const last = this.#last;
    if (last?.endpointId === endpointId && last.host === host) return last.value;
    const value = this.#hosts.get(host)?.get(endpointId) ?? this.#add(host, endpointId);
    this.#last = { host, endpointId, value };
    return value;
  }

  *values(): Iterable<T> {
    for (const endpoints of this.#hosts.values()) yield* endpoints.values();
  }

  #add(host: string, endpointId: string): T {
    if (this.#count >= this.#sweepAt) this.#sweep();
    const value = this.make({ host, endpointId });
    const endpoints = this.#hosts.get(host) ?? new Map<string, T>();
    this.#hosts.set(host, endpoints.set(endpointId, value));
    this.#count++;
    return value;
  }

  #sweep(): void {
    for (const [host, endpoints] of this.#hosts) {
      for (const [id, value] of endpoints) if (this.isIdle(value) && endpoints.delete(id)) this.#count--;
      if (endpoints.size === 0) this.#hosts.delete(host);
    }
    this.#last = undefined;
    this.#sweepAt = Math.max(fewest, 2 * this.#count);
  }
}
