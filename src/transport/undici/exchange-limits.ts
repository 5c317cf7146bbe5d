import { clampTimer } from '../../policy/client-clock.js';
import type { FaultPhase } from '../transport-error.js';
import type { WireRequest } from '../transport.js';

/** The time for sending a body up to this size, in characters, is not counted: it fits into the buffers on the way. */
const smallBody = 65_536;

/**
 * The limits of an exchange after the connection: one for the phase, one for the whole. One timer serves both: it is set
 * for the earlier limit, and when it fires it checks which limits have passed by then.
 */
export class ExchangeLimits {
  private phase: FaultPhase = 'response';
  private readonly wholeAt: number;
  private readonly responseMs: number;
  private phaseAt = Infinity;
  private firesAt: number;
  private timer: NodeJS.Timeout;

  constructor(
    private readonly request: Pick<WireRequest, 'timeouts' | 'body'>,
    private readonly exchange: { passed(phase: FaultPhase): void },
  ) {
    const { timeouts, body = '' } = request;
    const now = performance.now();
    this.responseMs = timeouts.responseMs + (body.length > smallBody ? timeouts.sendMs : 0);
    this.wholeAt = now + timeouts.requestMs;
    const firstMs = clampTimer(Math.min(timeouts.requestMs, this.responseMs));
    this.firesAt = now + firstMs;
    this.timer = setTimeout(fire, firstMs, this);
  }

  sending(): void {
    this.begin('response', this.responseMs);
  }

  reading(): void {
    this.begin('read', this.request.timeouts.readMs);
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

  /** For the timer. */
  look(): void {
    if (performance.now() >= Math.min(this.phaseAt, this.wholeAt)) this.exchange.passed(this.phase);
    else this.set();
  }
}

function fire(limits: ExchangeLimits): void {
  limits.look();
}
