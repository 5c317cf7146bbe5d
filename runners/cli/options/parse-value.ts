const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
type Unit = keyof typeof unitMs;

const shape =
  /^(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/;

/** A duration such as `90s`, `10m`, `1h30m` or `500ms` in ms, or what is wrong with it. A number without a unit is refused. */
export function parseDuration(text: string): { ms: number } | { problem: string } {
  if (/^\d+(\.\d+)?$/.test(text)) {
    return {
      problem: `"${text}" has no unit: write ${text}s for seconds, ${text}m for minutes or ${text}h for hours`,
    };
  }
  const parts = text === '' ? undefined : shape.exec(text)?.slice(1);
  if (parts === undefined) return { problem: `"${text}" is not a duration: write it as 90s, 10m or 1h30m` };
  const units = Object.keys(unitMs) as Unit[];
  const ms = units.reduce((sum, unit, index) => sum + Number(parts[index] ?? 0) * unitMs[unit], 0);
  return { ms: Math.round(ms) };
}

/** A duration in its largest whole unit: `90s`, `6d`. */
export function inUnits(ms: number): string {
  if (ms === 0) return '0s';
  if (ms % 86_400_000 === 0) return `${ms / 86_400_000}d`;
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

/** {base_url} or {lb_base_url} without its trailing slashes, or what is wrong with it. (spec 9) */
export function parseHost(given: string): { value: string } | { problem: string } {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    return { problem: `"${withoutSecrets(given)}" is not an http or https URL` };
  }
  if (url.username !== '' || url.password !== '') {
    return {
      problem: `"${withoutSecrets(given)}" contains a user name or a password: the key comes from MILLRACE_API_KEY`,
    };
  }
  if (url.search !== '' || url.hash !== '')
    return { problem: `"${maskedUrl(given)}" ends in a query or a fragment: leave it out` };
  const value = given.trim().replace(/\/+$/, '');
  if (/\/v2$/i.test(value)) return { problem: `"${given}" ends in /v2: leave it out, millrace adds it` };
  return { value };
}

function withoutSecrets(given: string): string {
  return given.replace(/\/\/[^/@]*@/, '//…@');
}

/** An address without the parts that may be secret: path, query and password. */
export function maskedUrl(address: string): string {
  const { origin, pathname, search } = new URL(address);
  return pathname === '/' && search === '' ? origin : `${origin}/…`;
}

/** The address of a notification. No message repeats it, because it may contain a secret. */
export function parseNotifyUrl(address: string): { value: string } | { problem: string } {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isHere = url !== undefined && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isHere))
    return {
      problem: 'this is not an address for a notification: write https://…, or http://… on this machine',
    };
  if (url.username !== '' || url.password !== '')
    return { problem: 'an address with a name or a password in it is refused: leave them out' };
  return { value: address };
}
