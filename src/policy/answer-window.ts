/** The window: answers. */
const size = 20;
/** The usual share is averaged over about so many answers. */
const memory = 100;
/** An unusual number of refusals is so many standard deviations above the usual one. */
const deviations = 3;
/** So many of the window always are too many, whatever is usual. */
const alwaysTooMany = 18;

/**
 * The latest 20 answers of an endpoint. `isRefusing` when half of them are refusals and that is not merely chance at the
 * share of refusals that is usual there: with 30 % of random refusals half of 20 are refused every few hundred answers.
 */
export class AnswerWindow {
  /** A bit for each answer, the latest one lowest. */
  private bits = 0;
  private refused = 0;
  private usual = 0;

  /** Takes in an answer. */
  add(isRefused: boolean): void {
    const bit = isRefused ? 1 : 0;
    this.refused += bit - ((this.bits >>> (size - 1)) & 1);
    this.bits = ((this.bits << 1) | bit) & ((1 << size) - 1);
    this.usual += (bit - this.usual) / memory;
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
  }
}
