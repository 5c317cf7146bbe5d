/** A share of refusals up to this costs less than slowing down for it. */
const harmless = 0.02;
/** If fewer than this share are refused at a lowered load, lowering has helped, and the load had risen too far. */
const rare = 0.012;
/** This many unexpected refusals are suspicious; the number grows with the noise. */
const suspicious = 2;
const suspiciousInNoise = 100;
const mostSuspicious = 5;
/**
 * Before the first lowering more refusals are needed, because two of the first 20 answers may be chance. Fewer are enough if
 * nearly all answers since the first refusal are refusals, as above a limit.
 */
const suspiciousAtFirst = 5;
const suspiciousBehindLimit = 2;
const nearlyAll = 0.7;
/** This many standard deviations of one answer are expected in addition to the noise. */
const spread = 0.35;
/** At least this many answers since the last change are needed for a decision. */
const fewest = 20;
/** How many answers a trial at the far lower load takes. */
const trialAnswers = 60;
/** A trial has helped if the share of refusals falls below this part of its earlier value. */
const helped = 0.63;
/** A trial ends early if the probability of its answers under noise is less than this. */
const hardly = 0.02;
/** A trial also ends early at this many refusals. */
const several = 6;
/** A larger share of refusals is not noise: the service is in trouble, and the load stays low. */
const mostNoise = 0.5;
/** The noise is measured again after this many answers. */
const believedFor = 2_000;
/** The noise is averaged over at most this many answers of trials. */
const memory = 200;

/**
 * What to do about refusals. `lower`: lower the load to a little below what the service accepts. `try`: lower it far below
 * that, and keep it there until there is a verdict. `load`: the trial had fewer refusals, so continue from the low load.
 * `noise`: it had as many, so restore the load. `limit`: the restored load has far more refusals, so even the low load was
 * above a limit: go back to the load that was accepted there.
 */
export type TrialStep = 'lower' | 'try' | 'load' | 'noise' | 'limit';

/**
 * Finds out by trying whether refusals (429) follow the load that a client puts on a service, as BBR distinguishes congestion
 * from random loss and CUBIC does not. More refusals than expected lower the load a little. If they continue, a trial lowers
 * the load much further for some answers. If the share of refusals stays the same, they are noise, or even that load is above a
 * limit. Restoring the load decides which, as BBR does when it probes for more bandwidth: noise stays the same share, while
 * above a limit no more requests are accepted. From then on only refusals beyond the share of the noise lower the load.
 */
export class RefusalTrial {
  /** The share of answers that are refusals at any load, from 0 to 1. */
  noise = 0;
  #noiseAnswers = 0;
  /** The load: `usual`, `low` (a little below) or `trial` (far below). */
  #at: 'usual' | 'low' | 'trial' = 'usual';
  /** Counted since the latest step. */
  #phase = new Counts();
  #before = new Counts();
  /** Counted since there were more refusals than expected. */
  readonly #run = new Counts();
  #suspicion = 0;
  #hasNeverLowered = true;
  /** The latest verdict of noise, until the restored load has confirmed it. */
  #probation: NoiseProbation | undefined;
  /** The noise as it was measured before that verdict. */
  #believed = { noise: 0, noiseAnswers: 0 };

  /** Whether a trial is under way: the load stays as it is until the verdict. */
  get isTrying(): boolean {
    return this.#at === 'trial';
  }

  /** The share of the load that the service accepts while it refuses more than expected, from 0 to 1. Noise is not counted. */
  get through(): number {
    return (1 - this.#run.share) / (1 - Math.min(this.noise, this.#run.share));
  }

  /** The same for the load before the trial. */
  get throughBefore(): number {
    return (1 - this.#before.share) / (1 - Math.min(this.noise, this.#before.share));
  }

  /** `through`, but closer to 1 after few answers, because they prove little. */
  get cautiousThrough(): number {
    const { answers } = this.#run;
    return 1 - (1 - this.through) * (answers / (answers + 5));
  }

  /**
   * Records the answer to a request that was sent after the latest step.
   * @param isBelow whether the load is still below its value before it was lowered
   */
  observe(isRefused: boolean, isBelow: boolean): TrialStep | undefined {
    if (this.#at === 'low' && !isBelow) this.#begin('usual');
    this.#phase.add(isRefused);
    if (this.#at === 'trial') return this.#isDecided ? this.#conclude() : undefined;
    if (this.#probation?.isRefuted(isRefused) === true) {
      this.#withdraw();
      return 'limit';
    }
    this.#suspect(isRefused);
    const { answers } = this.#phase;
    const isOld = this.#at === 'usual' && this.noise > harmless && answers >= believedFor;
    return (isRefused && answers >= fewest && this.#isSuspicious) || isOld ? this.#act(isOld) : undefined;
  }

  /**
   * Records that the whole endpoint pauses, for which the load is lowered a little. Returns true if this withdraws an
   * unconfirmed verdict of noise, as the step `limit` does.
   */
  paused(): boolean {
    const isWithdrawn = this.#probation?.isOver === false;
    if (isWithdrawn) this.#withdraw();
    else this.#begin('low');
    return isWithdrawn;
  }

  /**
   * Whether there are enough answers, or the verdict is clear: with noise a long series without a refusal is unlikely, and far
   * below a limit several refusals are unlikely.
   */
  get #isDecided(): boolean {
    const { answers, refused } = this.#phase;
    if (refused === 0) return answers >= trialAnswers || (1 - this.#before.share) ** answers < hardly;
    return answers >= trialAnswers || (answers >= fewest && refused >= several);
  }

  #act(isOld: boolean): 'lower' | 'try' {
    const hasHelped = this.#at === 'low' && this.#phase.share < rare;
    if ((this.#at === 'usual' && !isOld) || hasHelped) {
      this.#begin('low');
      return 'lower';
    }
    this.#before = this.#phase;
    this.#begin('trial');
    return 'try';
  }

  #conclude(): 'load' | 'noise' {
    const [before, phase] = [this.#before, this.#phase];
    const isNoise = phase.share >= helped * before.share && phase.share <= mostNoise;
    if (isNoise) {
      this.#probation = new NoiseProbation(phase.share);
      this.#believed = { noise: this.noise, noiseAnswers: this.#noiseAnswers };
      this.#learn(phase);
    } else this.noise = Math.min(this.noise, phase.share);
    this.#begin(isNoise ? 'usual' : 'low');
    return isNoise ? 'noise' : 'load';
  }

  /** Takes back a verdict of noise that was wrong. */
  #withdraw(): void {
    this.noise = this.#believed.noise;
    this.#noiseAnswers = this.#believed.noiseAnswers;
    this.#begin('low');
  }

  #learn({ answers, refused }: Counts): void {
    const kept = Math.min(this.#noiseAnswers, memory - answers);
    this.noise = (this.noise * kept + refused) / (kept + answers);
    this.#noiseAnswers = kept + answers;
  }

  /** Sums up the refusals beyond the expected ones. The sum starts again when it falls to 0. */
  #suspect(isRefused: boolean): void {
    const { noise } = this;
    if (this.#suspicion === 0) this.#run.clear();
    this.#run.add(isRefused);
    const expected = harmless + noise + spread * Math.sqrt(noise * (1 - noise));
    this.#suspicion = Math.max(this.#suspicion + (isRefused ? 1 : 0) - expected, 0);
  }

  get #isSuspicious(): boolean {
    if (this.#hasNeverLowered)
      return this.#suspicion >= (this.#run.share > nearlyAll ? suspiciousBehindLimit : suspiciousAtFirst);
    return this.#suspicion >= Math.min(suspicious + suspiciousInNoise * this.noise, mostSuspicious);
  }

  #begin(at: 'usual' | 'low' | 'trial'): void {
    this.#hasNeverLowered = false;
    this.#at = at;
    this.#phase = new Counts();
    this.#suspicion = 0;
    if (at !== 'usual') this.#probation = undefined;
  }
}

class Counts {
  answers = 0;
  refused = 0;

  get share(): number {
    return this.answers === 0 ? 0 : this.refused / this.answers;
  }

  add(isRefused: boolean): void {
    this.answers += 1;
    if (isRefused) this.refused += 1;
  }

  clear(): void {
    this.answers = 0;
    this.refused = 0;
  }
}

/** A verdict is tested with this many answers. */
const probationAnswers = 100;
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
class NoiseProbation {
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
    return this.#answers >= probationAnswers;
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
