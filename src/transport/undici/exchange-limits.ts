import { clampTimer } from '../../policy/client-clock.js';
import type { FaultPhase } from '../transport-error.js';
import { sendMsOf, type WireRequest } from '../transport.js';

/**
 * The limits of an exchange after the connection: one for the phase, one for the whole. One timer is enough: it is set for the
 * earlier limit, and checks which limits have passed when it fires.
 */
export class ExchangeLimits {
  private phase: FaultPhase = 'response';
  private readonly wholeAt: number;
  private readonly responseMs: number;
  private readAt = Infinity;
  private phaseAt = Infinity;
  private firesAt: number;
  private timer: NodeJS.Timeout;

  constructor(
    private readonly request: Pick<WireRequest, 'timeouts' | 'body'>,
    private readonly exchange: { passed(phase: FaultPhase): void },
  ) {
    const { timeouts } = request;
    const now = performance.now();
    this.responseMs = timeouts.responseMs + sendMsOf(request);
    this.wholeAt = now + timeouts.requestMs;
    const firstMs = clampTimer(Math.min(timeouts.requestMs, this.responseMs));
    this.firesAt = now + firstMs;
    this.timer = setTimeout(fire, firstMs, this);
  }

  sending(): void {
    this.begin('response', this.responseMs);
  }

  reading(): void {
    const { readMs, idleMs } = this.request.timeouts;
    this.readAt = performance.now() + readMs;
    this.begin('read', Math.min(readMs, idleMs));
  }

  /** Call it with each part of the reply. */
  came(): void {
    this.phaseAt = Math.min(this.readAt, performance.now() + this.request.timeouts.idleMs);
  }

  clear(): void {
    clearTimeout(this.timer);
  }

  private begin(phase: FaultPhase, ms: number): void {
    this.phase = phase;
    this.phaseAt = performance.now() + ms;
    if (this.phaseAt < this.firesAt) this.set();
  }

  private set(): void {
    clearTimeout(this.timer);
    this.firesAt = Math.min(this.phaseAt, this.wholeAt);
    this.timer = setTimeout(fire, clampTimer(Math.ceil(this.firesAt - performance.now())), this);
  }

  look(): void {
    if (performance.now() >= Math.min(this.phaseAt, this.wholeAt)) this.exchange.passed(this.phase);
    else this.set();
  }
}

function fire(limits: ExchangeLimits): void {
  limits.look();
}
