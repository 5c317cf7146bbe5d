import { isIP } from 'node:net';
import { InvalidOptionError } from '../../contract/millrace-error.js';

/** The destination of a connection. */
export interface Destination {
  readonly secure: boolean;
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Returns the proxy for a destination, or `undefined`. */
export type ProxyRules = (destination: Destination) => URL | undefined;

/**
 * Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in capitals or small letters. This machine itself is never reached through a
 * proxy.
 *
 * @throws {InvalidOptionError} for a variable that is not an address of a proxy; its value, which may contain a password, is
 *   not quoted
 */
export function proxyRules(env: Readonly<Record<string, string | undefined>>): ProxyRules {
  const proxies = { secure: proxyIn(env, 'HTTPS_PROXY'), plain: proxyIn(env, 'HTTP_PROXY') };
  const spared = (valueOf(env, 'NO_PROXY') ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  return (destination) => {
    const proxy = destination.secure ? proxies.secure : proxies.plain;
    if (proxy === undefined || isThisMachine(destination.host)) return undefined;
    return spared.some((entry) => isSpared(destination, entry.toLowerCase())) ? undefined : proxy;
  };
}

/** A host name or address without the brackets that an IPv6 address has in a URL. */
export function bareHost(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

export function destinationOf({ protocol, hostname, port }: URL): Destination {
  const secure = protocol === 'https:';
  return {
    secure,
    host: bareHost(hostname),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
  };
}

function valueOf(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const value = env[name.toLowerCase()] ?? env[name];
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

function proxyIn(env: Readonly<Record<string, string | undefined>>, name: string): URL | undefined {
  const value = valueOf(env, name);
  if (value === undefined) return undefined;
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && url.hostname !== '' && /^https?:$/.test(url.protocol)) return url;
  throw new InvalidOptionError(name, 'is not an address of a proxy: write http://host:port');
}

function isThisMachine(host: string): boolean {
  const name = host.toLowerCase();
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIP(name) === 4 && name.startsWith('127.'))
  );
}

/** `example.com`, `.example.com` and `*.example.com` also match every name below it; `*` matches everything. */
function isSpared({ host, port }: Destination, entry: string): boolean {
  if (entry === '*') return true;
  const [, name = entry, onlyPort] = /^(.*?[^:]|\[.*\])(?::(\d+))?$/.exec(entry) ?? [];
  if (onlyPort !== undefined && Number(onlyPort) !== port) return false;
  const bare = bareHost(name.replace(/^\*?\./, ''));
  const wanted = host.toLowerCase();
  return wanted === bare || (isIP(wanted) === 0 && wanted.endsWith(`.${bare}`));
}
