import { Subject } from 'rxjs';
import { runBatch, type RunBatchOptions, type RunEvent } from '../../../runners/batch/run-batch.js';
import { runDistributed } from '../../../runners/distributed/collector/run-distributed.js';
import { runWorker } from '../../../runners/distributed/worker/run-worker.js';
import type { Download } from '../../../src/transport/got/download.js';
import type { Transport } from '../../../src/transport/transport.js';
import { pollFixed } from '../../../src/policy/polling/poll-schedule.js';
import type { Random } from '../../support/manifest-edits.js';
import { paperService } from '../../support/paper-service.js';
import { paperRun, type PaperEnd } from '../../support/paper-run.js';
import type { PersonsWorld } from '../../support/person.js';
import { diskOf } from '../life.js';
import { VirtualClock } from '../virtual-clock.js';
import { FakeDatabase } from './fake-database.js';
import { FleetLife } from './fleet-life.js';

const hosts = { baseUrl: 'https://paper.test', lbBaseUrl: 'https://paper.test' };
const apiKey = 'canary-key-5f1e0c7a9b';
const workers = 2;
const longestMs = 4 * 3_600_000;

/** Starts over a database, with workers that die and leave now and then; some starts go without it, where the folder allows it. */
export class PersonsFleet implements PersonsWorld {
  readonly run: PersonsWorld['run'];
  private readonly clock = new VirtualClock();
  private readonly outside = new FleetLife(this.clock, {}, 0);
  private readonly database: FakeDatabase;
  private readonly working = new Set<FleetLife>();
  private readonly broken: string[] = [];
  private isOver = false;

  constructor(private readonly random: Random) {
    this.database = new FakeDatabase(this.clock, random);
    const { scheduler } = this.outside;
    this.run = {
      ...paperRun({ random }),
      service: paperService(scheduler),
      scheduler,
    };
    for (let place = 0; place < workers; place++) this.work();
  }

  get isElsewhere(): boolean {
    return this.run.text('distributed.json').includes('"isOpen":true');
  }

  async start(
    options: RunBatchOptions,
    watch: (event: RunEvent, kill: () => void) => void,
  ): Promise<PaperEnd | undefined> {
    const { run, clock, random } = this;
    const life = new FleetLife(clock, {}, 0);
    const { disk } = run;
    const kill = (): void => {
      run.disk = disk.handOver();
      life.kill();
    };
    const events: RunEvent[] = [];
    const ended = new Promise<void>((complete, error) => {
      this.startIn(life, options).subscribe({
        next: (event) => {
          if (life.isDead) return;
          events.push(event);
          watch(event, kill);
        },
        complete,
        error,
      });
    });
    await clock.until(Promise.race([ended, life.died]), longestMs);
    if (life.isDead) return undefined;
    await ended;
    run.disk = disk.handOver();
    life.die();
    clock.now += random() * 5_000;
    const last = events.at(-1);
    if (last?.type !== 'finished') throw new Error('the run did not finish');
    const { exitCode, reason, summary } = last;
    return { exitCode, reason, summary: summary as PaperEnd['summary'], events };
  }

  end(): string[] {
    this.isOver = true;
    for (const life of [...this.working, this.outside]) life.die();
    // A cap that she lowers is below what was spent before.
    return [...this.broken, ...this.database.broken.filter((text) => !text.includes('under a cap of'))];
  }

  private startIn(life: FleetLife, options: RunBatchOptions) {
    const { run, database, random } = this;
    const { scheduler } = life;
    const { schedule, ...rest } = options;
    const within: RunBatchOptions = {
      ...rest,
      ...this.serviceFor(life),
      disk: diskOf(life, run.disk, () => 0),
      scheduler,
    };
    if (!this.isElsewhere && random() < 0.3)
      return runBatch({ ...within, ...(schedule && { schedule: pollFixed(100, scheduler) }) });
    return runDistributed(within, { connect: () => Promise.resolve(database.connectedTo(life)) });
  }

  private work(): void {
    const { random, clock, working } = this;
    const life = new FleetLife(
      clock,
      random() < 0.3 ? { atCall: 1 + Math.floor(random() ** 2 * 300) } : {},
      0,
    );
    working.add(life);
    const { pool, queue } = this.database.connectedTo(life);
    const stop = new Subject<void>();
    const ended = runWorker({
      ...hosts,
      ...this.serviceFor(life),
      apiKey,
      database: { pool, queue },
      scheduler: life.scheduler,
      random,
      stop,
      notify: (event) => {
        if (event.type === 'fault' && !life.isDead) this.broken.push(`a worker: ${event.message}`);
      },
    }).catch((error: unknown) => this.broken.push(`a worker ended: ${(error as Error).stack}`));
    if (random() < 0.2)
      clock.in(random() * 20_000, () => {
        if (!life.isDead) stop.next();
      });
    const over = (): void => {
      if (!working.delete(life) || this.isOver) return;
      life.die();
      clock.in(500, () => this.work());
    };
    void life.died.then(over);
    void ended.then(over);
  }

  private serviceFor(life: FleetLife): { readonly transport: Transport; readonly saveFrom: Download } {
    const { service } = this.run;
    return {
      transport: (request) => life.reaching(service.transport(request)),
      saveFrom: (request, onChunk) => life.reaching(service.download(request, onChunk)),
    };
  }
}
