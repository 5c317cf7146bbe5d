/**
 * The service on this machine, for tests and rehearsals.
 *
 * @module millrace/emulator
 */

export { localImageUrl, startEmulator, type Emulator } from './start-emulator.js';
export type { EmulatorOptions } from './settings/emulator-options.js';
export { EmulatorOptionError } from './settings/emulator-option-error.js';
export { parseFaults, type FaultOf, type ServiceRequest } from './faults/parse-faults.js';
export type { Fault, FaultRule, FaultPhase, Operation } from './faults/fault.js';
export { parseRateLimit, type RateLimit } from './faults/rate-limit.js';
export { parseLatency, type Latency } from './settings/parse-latency.js';
export type {
  UserFunctions,
  QueueFunction,
  JobContext,
  RouteFunction,
  RouteContext,
} from './settings/user-functions.js';
export { findLocalPicture, type LocalPicture } from '../pictures/find-local-picture.js';
export { missingSharp } from './edit/missing-sharp.js';
export type { BillLine } from './bill.js';
export type { QueueHealth } from './queue/endpoint-queue.js';
export type { Clock } from './clock.js';
