// Reserves rows of 10 under a daily cap in the ledger file that it is given, one after another, and prints each one that it
// got, until there is no room or it is killed.
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { openDayLedger } from '../../../../runners/batch/ledger/day-ledger.js';
import { withFileLock } from '../../../../runners/batch/lock/try-lock-file.js';

const [path = '', run = '', capUsd] = process.argv.slice(2);
const exclusively = <T>(work: () => Promise<T>) => withFileLock(`${path}.lock`, work);
const ledger = openDayLedger({ disk: nodeDisk, path, run, capUsd: Number(capUsd), exclusively });
for (let row = 0; await ledger.reserve(`row-${row}`, 10); row++) process.stdout.write(`${row}\n`);
process.stdout.write('full\n');
