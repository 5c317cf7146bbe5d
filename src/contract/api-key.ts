/** What is wrong with an API key, or `undefined`. Never quotes the key. */
export function checkApiKey(key: string): string | undefined {
  if (key === '') return 'is empty';
  return /^[\x21-\x7e]+$/.test(key)
    ? undefined
    : 'contains white space or a character that no header may carry';
}
