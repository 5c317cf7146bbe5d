/** How many answers the window holds. */
const size = 20;
/** The usual share is averaged over about this many answers. */
const memory = 100;
/** The average begins as if this many good answers had come before. */
const assumed = 5;
/** An unusual number of refusals is this many standard deviations above the usual one. */
const deviations = 4;
/** This many refusals in the window are always too many, whatever is usual. */
const alwaysTooMany = 18;

/**
 * The latest 20 answers of an endpoint. `isRefusing` when at least half of them are refusals, and that is more than
 * chance at the endpoint's usual share of refusals: with 30 % of random refusals, half of 20 are refused every few
 * hundred answers. The usual share is learned from answers that have left the window, and is 0 before there are any: a
 * service that refuses all requests from the start is refusing.
 */
export class AnswerWindow {
  /** A bit for each answer, the latest one lowest. */
  private bits = 0;
  private refused = 0;
  private answers = 0;
  private usual = 0;
  private earlier = assumed;

  /** Takes in an answer. */
  add(isRefused: boolean): void {
    const bit = isRefused ? 1 : 0;
    const oldest = (this.bits >>> (size - 1)) & 1;
    if (this.answers === size) this.learn(oldest);
    this.answers = Math.min(this.answers + 1, size);
    this.refused += bit - oldest;
    this.bits = ((this.bits << 1) | bit) & ((1 << size) - 1);
  }

  /** Too many of the latest answers are refusals. */
  get isRefusing(): boolean {
    if (this.refused < size / 2) return false;
    const { usual } = this;
    const chance = size * usual + deviations * Math.sqrt(size * usual * (1 - usual));
    return this.refused >= Math.min(chance, alwaysTooMany);
  }

  /** Forgets the answers, and keeps what is usual. */
  clear(): void {
    this.bits = 0;
    this.refused = 0;
    this.answers = 0;
  }

  private learn(bit: number): void {
    this.earlier = Math.min(this.earlier + 1, memory);
    this.usual += (bit - this.usual) / this.earlier;
  }
}
