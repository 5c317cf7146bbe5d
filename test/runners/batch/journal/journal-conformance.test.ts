import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import { conformsToJournal } from '../../../support/journal-conformance.js';
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
    close: () => opened.close().catch(() => undefined),
  };
});
