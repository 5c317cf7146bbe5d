import type { Journal } from '../../../../runners/batch/journal/journal.js';
import { isFree, isUnanswered, leftTask, recordsOfSent } from '../../../../runners/batch/row/left-rows.js';
import { isEnd } from '../../../../runners/batch/row/row-status.js';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { conformsToJournal, endsOf, type GoesOn } from '../../../support/journal-conformance.js';
import { recordsOf } from '../../../support/sample-records.js';

const path = '/out/journal.jsonl';

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
  let torn: number | undefined;
  /** Of the group that it dies in, so many bytes are in the file. */
  const tear = (): void => {
    const content = disk.peek(path) ?? Buffer.alloc(0);
    if (torn === undefined || torn >= content.length) return;
    disk = new ForgetfulDisk({ random: () => 0 });
    disk.plant(path, content.subarray(0, torn));
  };
  return {
    journal: opened,
    before: 0,
    dieAt: (step) => Promise.resolve(void (torn = (disk.peek(path)?.length ?? 0) + 23 * step)),
    hasDied: () => torn !== undefined && torn < (disk.peek(path)?.length ?? 0),
    nextProcess: () => openJournal((disk = disk.restart()), '/out'),
    breakMedium: () => {
      isBroken = true;
      return Promise.resolve();
    },
    afterDeath: async () => {
      tear();
      return recordsOf(await openJournal((disk = disk.restart()), '/out'));
    },
    goesOn: async () => inTheNextStart(await openJournal((disk = disk.restart()), '/out')),
    close: () => opened.close().catch(() => undefined),
  };
});

/** As a start decides on what the one before it left. */
async function inTheNextStart(journal: Journal): Promise<GoesOn> {
  const pending = journal.recovered.pending.get('a');
  const known = await journal.find('a');
  // The manifest has it still.
  if (known === undefined) return { what: 'send', attempts: 0 };
  if (isEnd(known.status)) return { what: 'nothing' };
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
