import { concat, type SchedulerLike, type Subject } from 'rxjs';
import type { Client } from '../../../src/endpoints/client-on.js';
import type { ClientOptions } from '../../../src/endpoints/client-state.js';
import type { QueueEndpoint } from '../../../src/endpoints/queue-endpoint.js';
import { ReplyRoom } from '../../../src/operators/requests/reply-room.js';
import type { Gate } from '../../../src/policy/gates/gate.js';
import { adaptiveConcurrency } from '../../../src/policy/gates/adaptive-concurrency.js';
import type { PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import type { Journal } from '../journal/journal.js';
import type { RunLog } from '../log/open-log.js';
import type { Plan } from '../manifest/plan-manifest.js';
import { runsyncTimeoutOf } from '../row/task.js';
import type { Ahead } from '../start/check/ahead.js';
import { BlockedEndpoints } from '../stop/skipped-rows.js';
import { ServiceReach } from '../stop/service-reach.js';
import type { Stops } from '../stop/stops.js';
import { RowSlots, type Slots } from './row-slots.js';
import type { RunService } from './purchase-context.js';
import type { ResolvedOptions } from './resolved-options.js';
import type { RunEvent } from './run-event.js';
import { RunJobIds, type RowJobIds } from './run-job-ids.js';

export type ServiceOptions = Pick<
  ResolvedOptions,
  | 'transport'
  | 'scheduler'
  | 'random'
  | 'apiKey'
  | 'baseUrl'
  | 'lbBaseUrl'
  | 'gate'
  | 'retries'
  | 'timeoutMs'
  | 'runsyncTimeoutMs'
  | 'executionTimeoutsMs'
  | 'lowPriority'
>;

export interface RowTargets {
  readonly slots: Slots;
  /** Ids of queue endpoints. */
  readonly endpoints: readonly string[];
  readonly hasRoutes: boolean;
  readonly hasSeveralEndpoints: boolean;
  readonly jobIds: RowJobIds;
}

interface Parts {
  readonly schedule: PollSchedule;
  readonly log: RunLog;
  readonly events: Subject<RunEvent>;
  readonly stops: Stops;
}

/** The targets of the rows of a checked manifest. */
export function rowPlaces(
  { scheduler, manifest, concurrency }: ResolvedOptions,
  { plan, ahead }: { readonly plan: Plan; readonly ahead: Ahead },
  journal: Pick<Journal, 'recovered' | 'records'>,
): RowTargets {
  const hasRoutes = plan.byKind.route > 0;
  const { endpoints } = ahead;
  return {
    endpoints,
    hasRoutes,
    jobIds: new RunJobIds(journal),
    slots: slotsOf(concurrency, { plan, mode: manifest.settings.mode, scheduler }),
    // The endpoints of rows that arrive later are not known yet.
    hasSeveralEndpoints: manifest.live !== undefined || endpoints.length + (hasRoutes ? 1 : 0) > 1,
  };
}

const usual = 8;

/**
 * The slots of a run. Without a number they adapt if rows go to /run; with /runsync each row occupies a worker and a
 * connection, so they are fixed.
 */
function slotsOf(
  concurrency: number | 'auto' | undefined,
  { plan, mode, scheduler }: { plan: Plan; mode: 'sync' | 'async' | undefined; scheduler: SchedulerLike },
): Slots {
  if (typeof concurrency === 'number') return { limit: concurrency };
  const goesToRun = mode === 'async' || (mode === undefined && plan.byKind.job > 0);
  return concurrency === 'auto' || goesToRun ? adaptiveConcurrency({ scheduler }) : { limit: usual };
}

/** Opens the service for rows. Nothing is sent. */
export type OpenService = (options: ServiceOptions, places: RowTargets, parts: Parts) => RunService;

export function serviceOver(create: (options: ClientOptions, replies: ReplyRoom) => Client): OpenService {
  return (options, { slots, endpoints, hasRoutes, hasSeveralEndpoints, jobIds }, parts) => {
    const { schedule, log, events, stops } = parts;
    const { scheduler, retries, lbBaseUrl, timeoutMs } = options;
    const reach = new ServiceReach(retries, { now: () => scheduler.now(), log, events, stops });
    const rowSlots = new RowSlots({ slots, stops, hasSeveralEndpoints });
    const replies = new ReplyRoom();
    const client = create(clientOptions(options, { reach, slots, jobIds, rowSlots }), replies);
    const retry = { maxRetries: retries };
    return {
      reach,
      jobIds,
      slots,
      rowSlots,
      replies,
      blocked: new BlockedEndpoints(endpoints, hasRoutes),
      queues: queuesOf(client, options, schedule),
      lowPriority: options.lowPriority === true,
      routes:
        lbBaseUrl === undefined ? undefined : client.routes(lbBaseUrl, { retry, deadlineMs: timeoutMs }),
    };
  };
}

function clientOptions(
  { transport, scheduler, random, apiKey, baseUrl, gate }: ServiceOptions,
  service: Pick<RunService, 'reach' | 'slots' | 'jobIds' | 'rowSlots'>,
): ClientOptions {
  const { reach, jobIds } = service;
  return {
    transport: reach.watch(transport),
    gate: watchedGate(gate, service),
    scheduler,
    random,
    jobIds,
    ...(apiKey !== undefined && { apiKey }),
    ...(baseUrl !== undefined && { baseUrl }),
  };
}

/**
 * Wraps the gate to count answers: a run that gets answers must not stop as unreachable. A row that gave its slot away
 * waits for one before it is sent.
 */
function watchedGate(
  gate: Gate,
  { reach, slots, rowSlots }: Pick<RunService, 'reach' | 'slots' | 'rowSlots'>,
): Gate {
  return {
    admit: (request) =>
      request.kind === 'submit'
        ? concat(gate.admit(request), rowSlots.returned(request.key))
        : gate.admit(request),
    tryPass: (request) =>
      (request.kind !== 'submit' || !rowSlots.mustReturn(request.key)) && (gate.tryPass?.(request) ?? false),
    observe: (answer) => {
      gate.observe(answer);
      slots.observe?.(answer);
      const { status, endpointId } = answer;
      if (status !== 0 && status !== 429 && status < 500) reach.answered(endpointId);
      else reach.notAnswered(endpointId);
    },
  };
}

/** The queue endpoints of a run. Each is created for its first row, so that options are not validated again for every row. */
function queuesOf(client: Client, options: ServiceOptions, poll: PollSchedule): RunService['queues'] {
  const queues = new Map<string, QueueEndpoint<unknown, unknown>>();
  return (endpoint) => {
    const known = queues.get(endpoint);
    if (known) return known;
    const made = client.queue<string>(endpoint, {
      executionTimeoutMs: runsyncTimeoutOf(options, endpoint),
      deadlineMs: options.timeoutMs,
      poll,
      retry: { maxRetries: options.retries },
    });
    queues.set(endpoint, made);
    return made;
  };
}
