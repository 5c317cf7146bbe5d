import type { Journal } from '../../../../runners/batch/journal/journal.js';
import { isFree, isUnanswered, leftTask, recordsOfSent } from '../../../../runners/batch/row/left-rows.js';
import { isEnd } from '../../../../runners/batch/row/row-status.js';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { conformsToJournal, endsOf, type GoesOn } from '../../../support/journal-conformance.js';
import { recordsOf } from '../../../support/sample-records.js';

conformsToJournal('a file', async () => {
  let disk = new ForgetfulDisk({ random: () => 0 });
  let isBroken = false;
  const failing = Object.assign(Object.create(disk) as ForgetfulDisk, {
    open: async (...args: Parameters<ForgetfulDisk['open']>) => {
      const file = await disk.open(...args);
      const sync = file.sync.bind(file);
      const fault = Object.assign(new Error('EIO'), { code: 'EIO' });
      return Object.assign(file, { sync: () => (isBroken ? Promise.reject(fault) : sync()) });
    },
  });
  const opened = await openJournal(failing, '/out');
  return {
    journal: opened,
    before: 0,
    breakMedium: () => {
      isBroken = true;
      return Promise.resolve();
    },
    afterDeath: async () => recordsOf(await openJournal((disk = disk.restart()), '/out')),
    goesOn: async () => inTheNextStart(await openJournal((disk = disk.restart()), '/out')),
    close: () => opened.close().catch(() => undefined),
  };
});

/** As a start decides on what the one before it left. */
async function inTheNextStart(journal: Journal): Promise<GoesOn> {
  const pending = journal.recovered.pending.get('a');
  const known = await journal.find('a');
  if (known === undefined || isEnd(known.status)) return { what: 'nothing' };
  const { attempts } = known;
  if (pending === undefined) return { what: 'send', attempts };
  if (isUnanswered(pending))
    return isFree(pending)
      ? { what: 'send', attempts }
      : { what: 'hold', records: endsOf(recordsOfSent(pending, 9_000, false)) };
  const task = leftTask(pending);
  if (task?.what === 'poll') return { what: 'poll', jobId: task.jobId, attempts: task.attempts };
  return task === undefined ? { what: 'nothing' } : { what: 'save the picture' };
}
