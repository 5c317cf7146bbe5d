/** A verdict is held against this many answers. */
const length = 100;
/** It is withdrawn once the latest answers are e to the power of this times likelier above a limit than under noise. */
const certain = 7;
/** A trial of few answers without a refusal does not prove that there are none. */
const leastNoise = 0.02;

/**
 * Tests the verdict that refusals are noise by the load that comes back after the trial, as BBR tests a bandwidth by probing
 * for more. Noise is the same share at any load. Above a limit nothing more gets through: at twice the load of the trial
 * the share that got through is halved. The sum of the log-likelihood ratios starts again at 0, so that what a service had
 * saved up during the trial does not speak for noise.
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

  /** Takes in an answer. True: the refusals follow the load. */
  isRefuted(isRefused: boolean): boolean {
    if (this.isOver) return false;
    this.#answers += 1;
    const [noise, aboveLimit] = [this.#noise, this.#aboveLimit];
    const odds = isRefused ? aboveLimit / noise : (1 - aboveLimit) / (1 - noise);
    this.#logOdds = Math.max(this.#logOdds + Math.log(odds), 0);
    return this.#logOdds >= certain;
  }
}
