/** A command as it can be pasted into a shell: words that a shell would read otherwise are quoted. */
export function shellWords(...words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}
