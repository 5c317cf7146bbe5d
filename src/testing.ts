/**
 * For your own tests: the service in memory, jobs as marbles, and one virtual clock for all.
 *
 * @module millrace/testing
 */

export { inVirtualTime } from './testing/in-virtual-time.js';
export type { VirtualRun } from './testing/in-virtual-time.js';
export { createTestService } from './testing/test-service.js';
export type { TestFault, TestJob, TestService, TestServiceOptions } from './testing/test-service.js';
export { completed, failed, jobEvents, jobOver, settled } from './testing/in-virtual-time.js';
export type { MarbleJob } from './testing/in-virtual-time.js';
