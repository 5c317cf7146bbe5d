import { createBill } from './bill.js';
import { billLine } from './http/add-bill-call.js';
import { closableClock, systemClock } from './clock.js';
import { createSampleFunction, sampleFilesId } from './samples/create-sample-function.js';
import { createEditFunction } from './edit/create-edit-function.js';
import { type EmulatorOptions, readSettings } from './settings/emulator-options.js';
import { drawFaults } from './faults/parse-faults.js';
import { createRateLimiter } from './faults/rate-limit.js';
import { checkFunctions, imageEditId, loadFunctions } from './settings/load-functions.js';
import { defaultFunctions, type QueueFunction, type UserFunctions } from './settings/user-functions.js';
import { picturesPath } from './http/add-picture-calls.js';
import { createPictureStore } from './picture-store.js';
import type { TempFolder } from './temp-folder.js';
import { EndpointQueue } from './queue/endpoint-queue.js';
import { hasEnded, type Job } from './queue/service-job.js';
import { createJobStore } from './queue/job-store.js';
import { sendWebhook } from './queue/send-webhook.js';
import type { Service } from './service.js';

const maxJobBytes = 256_000_000;

interface ServiceParts {
  folder: TempFolder;
  closing: AbortSignal;
  /** Set once the server listens. */
  origin: () => string;
}

/** Puts the parts of the service together. @throws EmulatorOptionError */
export async function createService(options: EmulatorOptions, parts: ServiceParts): Promise<Service> {
  const { workers, latency, rules, rateLimit } = readSettings(options);
  const { random = seededRandom(options.seed ?? 1), coldStartMs = 0 } = options;
  const clock = closableClock(options.clock ?? systemClock, parts.closing);
  const { queue, routes } = await gatherFunctions(options);
  const bill = createBill(parts.folder);
  const pictures = createPictureStore(parts.folder, clock.now, options.maxPictureBytes ?? 500_000_000);
  const urlOf = (name: string): string => `${parts.origin()}${picturesPath}/${name}`;
  const queues = new Map<string, EndpointQueue>();
  const jobs = createJobStore({
    now: clock.now,
    maxJobs: options.maxJobs ?? 20_000,
    maxBytes: maxJobBytes,
    onForgotten(job) {
      bill.close(billLine(job));
      queues.get(job.endpoint)?.abandon(job);
    },
  });
  const onEnded = (job: Job): void => {
    if (job.webhook === undefined) return;
    job.calledBack = new Promise((called) => {
      void sendWebhook(job, { clock, signal: parts.closing, called }).then(called);
    });
  };
  const addQueue = (id: string, work: QueueFunction): void => {
    queues.set(
      id,
      new EndpointQueue({ id, work, workers, coldStartMs, store: jobs, clock, latency, random, onEnded }),
    );
  };
  addQueue(imageEditId, createEditFunction({ clock, pictures, urlOf }));
  addQueue(sampleFilesId, createSampleFunction({ pictures, urlOf }));
  for (const [id, work] of Object.entries(queue)) addQueue(id, work);
  parts.closing.addEventListener('abort', () => {
    for (const job of jobs.all()) if (!hasEnded(job)) job.stop?.(new Error('the emulator closes'));
  });
  return {
    apiKey: options.key ?? 'millrace-emulator-key',
    clock,
    random,
    latency,
    coldStartMs,
    maxQueued: options.maxQueued ?? 100_000,
    queues,
    jobs,
    bill,
    routes,
    pictures,
    files: options.files,
    draw: drawFaults({ rules, faultOf: options.faultOf, random }),
    takeTurn: rateLimit ? createRateLimiter(rateLimit, clock.now) : () => 0,
    sendsRetryAfter: rateLimit?.retryAfter ?? false,
    closing: parts.closing,
  };
}

/** The default functions, then the module's, then those of the options; later ones replace earlier ones. */
async function gatherFunctions({
  functionsFile,
  functions,
}: EmulatorOptions): Promise<Required<UserFunctions>> {
  const fromFile = functionsFile === undefined ? {} : await loadFunctions(functionsFile);
  const handed = functions === undefined ? {} : checkFunctions(functions, 'options.functions');
  return {
    queue: { ...defaultFunctions.queue, ...fromFile.queue, ...handed.queue },
    routes: { ...defaultFunctions.routes, ...fromFile.routes, ...handed.routes },
  };
}

/** Pseudo-random numbers in [0, 1), the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
