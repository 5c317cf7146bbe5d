import { stateFolder } from '../disk/state-folder.js';

/** Where all runs of a user share their ledger, unless `--ledger FILE` says otherwise. */
export function dayLedgerPath(...place: Parameters<typeof stateFolder>): string {
  return `${stateFolder(...place)}/ledger.jsonl`;
}
