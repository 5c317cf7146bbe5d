/** What is wrong with a URL that the service is to call or to fetch, or `undefined`: only absolute http and https URLs will do. */
export function checkHttpUrl(url: string): string | undefined {
  if (url === '') return 'is empty';
  if (/[\s\u0000-\u001f\u007f]/.test(url)) return 'contains white space or a control character';
  if (!/^https?:\/\//i.test(url)) return 'is no http or https URL';
  return URL.canParse(url) ? undefined : 'is no valid URL';
}
