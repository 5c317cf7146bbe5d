/** {base_url} or {lb_base_url} as a person writes it: without its trailing slashes, or what is wrong with it. (spec 9) */
export function parseHost(given: string): { value: string } | { problem: string } {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    return { problem: `"${withoutSecrets(given)}" is no http or https URL` };
  }
  if (url.username !== '' || url.password !== '') {
    return {
      problem: `"${withoutSecrets(given)}" holds a name or a password: the key comes from MILLRACE_API_KEY`,
    };
  }
  if (url.search !== '' || url.hash !== '')
    return { problem: `"${given}" ends in a query or a fragment: leave it out` };
  const value = given.trim().replace(/\/+$/, '');
  if (/\/v2$/i.test(value)) return { problem: `"${given}" ends in /v2: leave it out, millrace adds it` };
  return { value };
}

function withoutSecrets(given: string): string {
  return given.replace(/\/\/[^/@]*@/, '//…@');
}
