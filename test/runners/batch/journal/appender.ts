// Appends records to the journal in the folder that it is given, as fast as it can, and prints the number of each one
// that is durable, until it is killed.
import { lastValueFrom } from 'rxjs';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';

const journal = await openJournal(nodeDisk, process.argv[2] ?? '');
const first = journal.recovered.records + 1;
process.stdout.write(`opened ${first - 1}\n`);
for (let n = first; ; n += 4) {
  const group = [0, 1, 2, 3].map((more) => {
    const record = {
      k: 'refused' as const,
      at: n + more,
      id: `row-${n + more}`,
      why: 'x'.repeat((n * 37) % 900),
    };
    return lastValueFrom(journal.append(record), { defaultValue: undefined }).then(() =>
      process.stdout.write(`${n + more}\n`),
    );
  });
  await Promise.all(group);
}
