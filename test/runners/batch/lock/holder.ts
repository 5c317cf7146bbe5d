// Holds the run in the folder that it is given until it is killed, or until its stdin ends. Says `held`, or why not.
import { holdRun } from '../../../../runners/batch/lock/hold-run.js';
import type { LockError } from '../../../../runners/batch/lock/owner.js';

try {
  const hold = await holdRun(process.argv[2] ?? '', { command: 'run edits.csv' });
  process.stdout.write('held\n');
  process.stdin.resume().on('end', () => void hold.release().then(() => process.stdout.write('released\n')));
} catch (error) {
  const { code, message, owner } = error as Partial<LockError>;
  process.stdout.write(`${JSON.stringify({ code, message, pid: owner?.pid })}\n`);
}
