// Holds the run in the folder that it is given until it is killed, or until its stdin ends. Says `held`, or why not.
import { holdRun } from '../../../../dist/runners/batch/lock/hold-run.js';

try {
  const hold = await holdRun(process.argv[2], { command: 'run edits.csv' });
  process.stdout.write('held\n');
  process.stdin.resume().on('end', () => void hold.release().then(() => process.stdout.write('released\n')));
} catch (error) {
  process.stdout.write(
    `${JSON.stringify({ code: error.code, message: error.message, pid: error.owner?.pid })}\n`,
  );
}
