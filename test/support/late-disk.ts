import type { DiskFile } from '../../runners/batch/disk/disk.js';
import { ForgetfulDisk } from './forgetful-disk.js';

/** Calls of open files take some steps before and after they do their work, as many as chance has it. */
export class LateDisk extends ForgetfulDisk {
  /** @param called before each of these calls does its work */
  constructor(
    private readonly chance: () => number,
    private readonly called: () => void = () => undefined,
  ) {
    super();
  }

  override async open(...args: Parameters<ForgetfulDisk['open']>): Promise<DiskFile> {
    const file = await super.open(...args);
    const late = async <T>(work: () => Promise<T>): Promise<T> => {
      await someSteps(this.chance);
      this.called();
      const done = await work();
      await someSteps(this.chance);
      return done;
    };
    return Object.assign(Object.create(file) as DiskFile, {
      size: () => late(() => file.size()),
      write: (...bytes: Parameters<DiskFile['write']>) => late(() => file.write(...bytes)),
      sync: () => late(() => file.sync()),
    });
  }
}

export async function someSteps(chance: () => number, most = 20): Promise<void> {
  for (let step = Math.floor(chance() * most); step > 0; step -= 1) await Promise.resolve();
}
