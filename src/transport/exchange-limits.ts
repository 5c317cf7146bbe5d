import { clampTimer } from '../policy/clamp-timer.js';
import type { FaultPhase } from './transport-error.js';
import type { WireRequest } from './transport.js';

/** A body that fits into the buffers on the way needs no time of its own to be sent. */
const smallBody = 65_536;

/**
 * The limits of an exchange after the connection: one for the phase, one for the whole. One timer serves both: it is set
 * for the first time that may matter, and when it rings it looks what is due by then.
 */
export class ExchangeLimits {
  private phase: FaultPhase = 'response';
  private readonly wholeAt: number;
  private readonly responseMs: number;
  private phaseAt = Infinity;
  private ringsAt: number;
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
    this.ringsAt = now + firstMs;
    this.timer = setTimeout(ring, firstMs, this);
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
    if (this.phaseAt < this.ringsAt) this.set();
  }

  private set(): void {
    clearTimeout(this.timer);
    this.ringsAt = Math.min(this.phaseAt, this.wholeAt);
    this.timer = setTimeout(ring, clampTimer(Math.ceil(this.ringsAt - performance.now())), this);
  }

  /** For the timer. */
  look(): void {
    if (performance.now() >= Math.min(this.phaseAt, this.wholeAt)) this.exchange.passed(this.phase);
    else this.set();
  }
}

function ring(limits: ExchangeLimits): void {
  limits.look();
}
