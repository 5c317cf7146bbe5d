/**
 * For your own tests: the service in memory, jobs as marbles, and one virtual clock for all.
 *
 * @module millrace/testing
 */

export { inVirtualTime, type VirtualRun, type MarbleJob } from './testing/in-virtual-time.js';
export { createTestService } from './testing/test-service.js';
export type { TestFault, TestJob, TestService, TestServiceOptions } from './testing/test-service.js';
export { completed, failed, jobEvents, jobOver, settled } from './testing/in-virtual-time.js';
