import { NoiseProbation } from './noise-probation.js';

/** A share of refusals up to this costs less than slowing down for it. */
const harmless = 0.02;
/** Below this share at a lowered load, lowering has helped, and the load came back too far. */
const rare = 0.012;
/** How many unexpected refusals are suspicious: more of them under noise. */
const suspicious = 2;
const suspiciousInNoise = 100;
const mostSuspicious = 5;
/**
 * Before the first lowering this many refusals are needed, since two of the first 20 answers may be chance; fewer are
 * enough when nearly all answers since the first refusal are refusals, as behind a limit.
 */
const suspiciousAtFirst = 5;
const suspiciousBehindLimit = 2;
const nearlyAll = 0.7;
/** Expected above the noise: this many standard deviations of one answer. */
const spread = 0.35;
/** After fewer answers since a change nothing is decided. */
const fewest = 20;
/** How many answers a trial at the far lower load takes. */
const trialAnswers = 60;
/** A trial has helped when less than this part of the share of refusals is left. */
const helped = 0.63;
/** A trial ends early when its answers would be less likely than this under noise. */
const hardly = 0.02;
/** A trial also ends early at this many refusals. */
const several = 6;
/** A service that refuses more than this at any load is in trouble: that is not noise, and the load stays low. */
const mostNoise = 0.5;
/** The noise is tried again after this many answers, and averaged over this many answers of trials. */
const believedFor = 2_000;
const memory = 200;

/**
 * What to do about refusals. `lower`: lower the load to a little below what the service takes. `try`: lower it far below
 * that, and keep it there until there is a verdict. `load`: there were fewer refusals far below, go on from there.
 * `noise`: there were as many, take the lowering back. `limit`: it was taken back, and there are far more refusals than
 * far below, so even that load was above a limit: go back to what got through there.
 */
export type TrialStep = 'lower' | 'try' | 'load' | 'noise' | 'limit';

/**
 * Finds out by trying whether refusals (429) follow the load that a client puts on a service, as BBR distinguishes
 * congestion from random loss and CUBIC does not. More refusals than expected lower the load a little. Where they go on,
 * the load is lowered far below for some answers: if there are as many refusals there, they are noise, or that load is
 * still above a limit. The load that comes back decides between them, as it does when BBR probes for more bandwidth: noise
 * stays the same share, and above a limit nothing more gets through. From then on the share of the noise is expected, and
 * only more refusals than that lower the load.
 */
export class RefusalTrial {
  /** The share of answers that are refusals at any load, from 0 to 1. */
  noise = 0;
  #noiseAnswers = 0;
  /** The load: `usual`, `low` (a little below) or `trial` (far below). */
  #at: 'usual' | 'low' | 'trial' = 'usual';
  /** Counted since the latest step. */
  #phase = new Counts();
  /** Counted before the trial. */
  #before = new Counts();
  /** Counted since there were more refusals than expected. */
  readonly #run = new Counts();
  #suspicion = 0;
  #hasNeverLowered = true;
  /** The latest verdict of noise, until the load that came back has confirmed it. */
  #probation: NoiseProbation | undefined;
  /** The noise that was believed in before that verdict. */
  #believed = { noise: 0, noiseAnswers: 0 };

  /** The load stays where it is until there is a verdict. */
  get isTrying(): boolean {
    return this.#at === 'trial';
  }

  /** What part of the load gets through when there are more refusals than expected, noise apart: from 0 to 1. */
  get through(): number {
    return (1 - this.#run.share) / (1 - Math.min(this.noise, this.#run.share));
  }

  /** What part of the load got through before the trial, noise apart: from 0 to 1. */
  get throughBefore(): number {
    return (1 - this.#before.share) / (1 - Math.min(this.noise, this.#before.share));
  }

  /** `through`, closer to 1 after few answers: they prove little. */
  get cautiousThrough(): number {
    const { answers } = this.#run;
    return 1 - (1 - this.through) * (answers / (answers + 5));
  }

  /**
   * Takes in an answer to a request that was sent after the latest step.
   * @param isBelow the load has not come back yet to what it was lowered from
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
   * The endpoint as a whole pauses: the load is lowered a little for that. True: noise was the verdict and is not confirmed
   * yet, and is withdrawn, as with the step `limit`.
   */
  paused(): boolean {
    const isWithdrawn = this.#probation?.isOver === false;
    if (isWithdrawn) this.#withdraw();
    else this.#begin('low');
    return isWithdrawn;
  }

  /**
   * Enough answers were counted, or the verdict is clear: under noise so many answers without a refusal are unlikely, and
   * several refusals are unlikely far below a limit.
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

  /** Noise was the wrong verdict: it is forgotten. */
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
