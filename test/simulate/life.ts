import { Observable, type SchedulerLike } from 'rxjs';
import type { Disk, DiskFile } from '../../runners/batch/disk/disk.js';
import { schedulerOf, type VirtualClock } from './virtual-clock.js';

interface Meddled {
  readonly fromCall: number;
  /** What it must have done before: see `used`. */
  readonly after: string;
  readonly work: () => void;
}

/** When a process dies. */
export interface Death {
  /** The call, counted from 1, that it does not live to make: of the disk, a request, or a reply's arrival. */
  readonly atCall?: number;
}

/** One process, from its start to its end or its death. Whatever it does outside itself passes through here. */
export class Life {
  isDead = false;
  /** It may have heard answers that it could not note any more: it was killed, told to leave at once, or its disk failed. */
  wasCutOff = false;
  /** Calls so far. */
  calls = 0;
  /** Jobs, as `endpoint/id`, that it has in its journal or was told of in reply to a POST. */
  readonly knownJobs = new Set<string>();
  readonly bornAt: number;
  /** Rows that stood in the manifest when it began. */
  readonly pricedRows = new Set<string>();
  /** `read PATH` for files that it has read and closed, `write PATH` for those that it has written to. */
  readonly used = new Set<string>();
  private meddling: Meddled | undefined;
  readonly scheduler: SchedulerLike;
  /** Settles when it dies. */
  readonly died: Promise<void>;
  private notifyDeath: () => void = () => undefined;

  constructor(
    readonly clock: VirtualClock,
    private readonly death: Death = {},
  ) {
    this.bornAt = clock.now;
    this.scheduler = schedulerOf(clock, () => this.isDead);
    this.died = new Promise((resolve) => (this.notifyDeath = resolve));
  }

  /** Counts a call; false when the process is dead, or dies of it. */
  step(): boolean {
    if (this.isDead) return false;
    this.calls++;
    this.meddleIfDue();
    if (this.calls === this.death.atCall) {
      this.wasCutOff = true;
      this.die();
    }
    return !this.isDead;
  }

  /** Notes the job that a reply to a POST names. */
  learnJob(url: string, body: string): void {
    const [, , endpoint = ''] = new URL(url).pathname.split('/');
    const id = /^\{"id":"([^"]+)"/.exec(body)?.[1];
    if (id !== undefined) this.knownJobs.add(`${endpoint}/${id}`);
  }

  /** Somebody else does something to its files before this call is made, or the first one after it has used a file. */
  meddle(meddling: Meddled): void {
    this.meddling = meddling;
  }

  private meddleIfDue(): void {
    const { meddling } = this;
    if (meddling === undefined || this.calls < meddling.fromCall || !this.used.has(meddling.after)) return;
    this.meddling = undefined;
    meddling.work();
  }

  die(): void {
    this.isDead = true;
    this.notifyDeath();
  }
}

/** One of its own each time: a shared one would keep all that waits for it. */
const never = (): Promise<never> => new Promise<never>(() => undefined);

/** A disk as one process uses it: a dead one never hears of its calls again. `delayMs` gives the time that a call takes. */
export function diskOf(life: Life, disk: Disk, delayMs: () => number): Disk {
  const isDead = (): boolean => life.isDead;
  const call = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!life.step()) return never();
    const ms = delayMs();
    if (ms > 0) await new Promise<void>((resolve) => life.clock.in(ms, resolve));
    if (isDead()) return never();
    const result = await work();
    return isDead() ? never() : result;
  };
  return {
    open: (path, flags) =>
      call(async () => fileOf(await disk.open(path, flags), call, (how) => life.used.add(`${how} ${path}`))),
    rename: (from, to) => call(() => disk.rename(from, to)),
    unlink: (path) => call(() => disk.unlink(path)),
    mkdir: (path) => call(() => disk.mkdir(path)),
    list: (path) => call(() => disk.list(path)),
    stat: (path) => call(() => disk.stat(path)),
    // No call of its own: nothing can happen at it that cannot at the next.
    realPath: (path) => disk.realPath(path),
    syncFolder: (path) => call(() => disk.syncFolder(path)),
    ...(disk.atOnce && { atOnce: disk.atOnce }),
  };
}

function fileOf(
  file: DiskFile,
  call: <T>(work: () => Promise<T>) => Promise<T>,
  used: (how: 'read' | 'write') => void,
): DiskFile {
  let wasRead = false;
  return {
    read: (into, position) => {
      wasRead = true;
      return call(() => file.read(into, position));
    },
    write: async (bytes, position) => {
      const written = await call(() => file.write(bytes, position));
      used('write');
      return written;
    },
    sync: () => call(() => file.sync()),
    truncate: (size) => call(() => file.truncate(size)),
    size: () => call(() => file.size()),
    ...(file.id && { id: () => call(() => file.id!()) }),
    close: () => call(() => file.close()).then(() => (wasRead ? used('read') : undefined)),
  };
}

/** What comes from outside reaches a process only while it lives; each arrival is a call of its own. */
export function arriving<T>(life: Life, source: Observable<T>): Observable<T> {
  return new Observable((subscriber) =>
    source.subscribe({
      next: (value) => {
        if (life.step()) subscriber.next(value);
      },
      error: (error: unknown) => {
        if (life.step()) subscriber.error(error);
      },
      complete: () => {
        if (!life.isDead) subscriber.complete();
      },
    }),
  );
}
