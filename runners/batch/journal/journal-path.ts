/** The journal's place in a run's folder. */
export function journalPath(folder: string): string {
  return `${folder}/journal.jsonl`;
}
