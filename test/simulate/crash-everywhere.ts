import { type Fate, type Simulation, simulateRun } from './simulate-run.js';

export interface CrashPoints {
  /** Of the first start, when nothing befalls it. */
  readonly calls: number;
  /** How many of them it was made to die at. */
  readonly tried: number;
  /** The calls whose death broke a promise, with what was broken. */
  readonly broken: string[];
}

export interface CrashSettings extends Omit<Simulation, 'fates'> {
  /** Every so manieth call alone, from `from` on. @defaultValue every one */
  readonly every?: number;
  /** @defaultValue 1 */
  readonly from?: number;
  readonly weather?: Fate['weather'];
}

/** Lets a run die at each of its calls: of the disk, each request, each reply; and goes on with it each time. */
export async function crashEverywhere(settings: CrashSettings): Promise<CrashPoints> {
  const { every = 1, from = 1, weather, ...simulation } = settings;
  const fate = weather === undefined ? {} : { weather };
  const { calls, broken: first } = await simulateRun({ ...simulation, fates: [fate] });
  const broken = first.map((text) => `without a crash: ${text}`);
  let tried = 0;
  for (let call = from; call <= calls && broken.length < 20; call += every) {
    tried++;
    const fates = [{ ...fate, diesAtCall: call, powerCut: call % 5 !== 0 }];
    const simulated = await simulateRun({ ...simulation, fates });
    broken.push(...simulated.broken.map((text) => `call ${call} of ${calls}: ${text}`));
  }
  return { calls, tried, broken };
}
