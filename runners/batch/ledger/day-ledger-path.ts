/** Where all runs of a user share their ledger, unless `--ledger FILE` says otherwise. */
export function dayLedgerPath(
  env: Readonly<Record<string, string | undefined>>,
  platform: string,
  home: string,
): string {
  const state = env['XDG_STATE_HOME'];
  if (state !== undefined && state !== '') return `${state}/millrace/ledger.jsonl`;
  if (platform === 'win32') return `${env['LOCALAPPDATA'] ?? `${home}/AppData/Local`}/millrace/ledger.jsonl`;
  if (platform === 'darwin') return `${home}/Library/Application Support/millrace/ledger.jsonl`;
  return `${home}/.local/state/millrace/ledger.jsonl`;
}
