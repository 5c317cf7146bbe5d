import { countOf } from '../messages/format-amounts.js';
import { endings } from '../messages/status-label.js';
import type { PendingStatus } from '../../batch/row/row-status.js';
import type { JournalTail, TailRow } from './journal-tail.js';

/** How far a row had come when its start ended. */
export const stoppedPlaces: Record<PendingStatus, string> = {
  sent: 'sent, no answer seen',
  accepted: 'accepted',
  replied: 'answered, not saved',
};

/** Whether there was a start, and whether the last one ended properly. */
export function stoppedMode({ starts, exitCode }: JournalTail): 'none' | 'stopped' | 'ended' {
  if (starts === 0) return 'none';
  return exitCode === undefined ? 'stopped' : 'ended';
}

/** How the last start ended. */
export function stoppedWords({ starts, exitCode }: JournalTail): string {
  if (starts === 0) return 'No run has begun here yet';
  return exitCode === undefined
    ? 'Stopped: the process ended without finishing'
    : exitCode === 0
      ? 'Finished'
      : `The last start ended with exit code ${exitCode}${exitCode in endings ? `: ${endings[exitCode]}` : ''}`;
}

/** Explains what the next start does with rows that this one had sent. */
export function stoppedFacts(
  { starts }: JournalTail,
  rows: readonly TailRow[],
  isRehearsal: boolean,
): string[] {
  if (starts === 0) return ['This page shows it as soon as one does.'];
  const count = (wanted: PendingStatus): number => rows.filter(({ status }) => status === wanted).length;
  const [sent, accepted, replied] = [count('sent'), count('accepted'), count('replied')];
  return [
    sent > 0
      ? `${countOf(sent, 'row was', 'rows were')} sent and no answer was seen: in doubt from the next run on.`
      : '',
    isRehearsal && accepted + replied > 0
      ? `${countOf(accepted + replied, 'job')} ended with the emulator.`
      : '',
    accepted > 0 && !isRehearsal
      ? `${countOf(accepted, 'job is', 'jobs are')} at the service: the next run asks for ${accepted === 1 ? 'it' : 'them'}, and buys nothing again.`
      : '',
    replied > 0 && !isRehearsal
      ? `${countOf(replied, 'result is', 'results are')} still to be saved, by the next run.`
      : '',
  ].filter((fact) => fact !== '');
}
