import { NEVER } from 'rxjs';
import type { PollSchedule } from '../../../src/policy/poll-schedule.js';

/** Never asks: each poll is a piece of its own. */
export function silentSchedule(): PollSchedule {
  return { pollTimes: () => NEVER, observe: () => undefined };
}
