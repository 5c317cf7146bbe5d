/** A verdict is tested with this many answers. */
const length = 100;
/** The log of the likelihood ratio (limit against noise) at which a verdict is withdrawn. */
const certain = 7;
/** The least noise to assume: a short trial without a refusal does not prove that there is none. */
const leastNoise = 0.02;

/**
 * Tests the verdict that refusals are noise while the load is restored after the trial, as BBR tests a bandwidth by probing for
 * more. Noise is the same share at any load. Above a limit no more requests are accepted: at twice the load of the trial, the
 * accepted share is halved. The sum of the log-likelihood ratios never falls below 0, so a burst that the service saved up
 * during the trial does not count as evidence for noise.
 */
export class NoiseProbation {
  readonly #noise: number;
  readonly #aboveLimit: number;
  #logOdds = 0;
  #answers = 0;

  /** @param noise the share of refusals in the trial, from 0 to 1 */
  constructor(noise: number) {
    this.#noise = Math.max(noise, leastNoise);
    this.#aboveLimit = (1 + this.#noise) / 2;
  }

  get isOver(): boolean {
    return this.#answers >= length;
  }

  /** Records an answer. Returns true once the refusals follow the load, so that they are not noise. */
  isRefuted(isRefused: boolean): boolean {
    if (this.isOver) return false;
    this.#answers += 1;
    const [noise, aboveLimit] = [this.#noise, this.#aboveLimit];
    const odds = isRefused ? aboveLimit / noise : (1 - aboveLimit) / (1 - noise);
    this.#logOdds = Math.max(this.#logOdds + Math.log(odds), 0);
    return this.#logOdds >= certain;
  }
}
