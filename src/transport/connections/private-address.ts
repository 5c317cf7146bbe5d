import { BlockList, isIP, type LookupFunction } from 'node:net';
import { bareHost } from './proxy-rules.js';

/** The kind of an IP address. `reserved`: link-local, multicast, documentation and all others that no public host has. */
export type AddressKind = 'public' | 'private' | 'loopback' | 'reserved';

const ranges = {
  loopback: ['0.0.0.0/8', '127.0.0.0/8', '::/127'],
  private: ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
  reserved: [
    ...['169.254.0.0/16', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15'],
    ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3', '64:ff9b:1::/48', '100::/64', '2001::/32'],
    ...['2001:db8::/32', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
  ],
} as const;

const lists = (['loopback', 'private', 'reserved'] as const).map((kind) => {
  const list = new BlockList();
  for (const range of ranges[kind]) {
    const [address = '', bits] = range.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return { kind, list };
});

/** The kind of an IP address in any notation; `undefined` for a name. */
export function addressKind(address: string): AddressKind | undefined {
  const bare = bareHost(address).replace(/%.*$/, '');
  const version = isIP(bare);
  if (version === 0) return undefined;
  const inner = version === 6 ? embeddedAddress(bare) : undefined;
  if (inner !== undefined) return addressKind(inner);
  return lists.find(({ list }) => list.check(bare, version === 6 ? 'ipv6' : 'ipv4'))?.kind ?? 'public';
}

/** Whether an IP address is not public. False for a name. */
export function isPrivateAddress(address: string): boolean {
  return (addressKind(address) ?? 'public') !== 'public';
}

/**
 * The IPv4 address that an IPv6 address leads to: mapped (::ffff:a.b.c.d), compatible (::a.b.c.d), translated
 * (64:ff9b::a.b.c.d) or 6to4 (2002:aabb:ccdd::).
 */
function embeddedAddress(address: string): string | undefined {
  const groups = groupsOf(address);
  const head = groups.slice(0, 6).join(':');
  if (groups[0] === 0x2002) return dotted(groups[1], groups[2]);
  const isTranslated = head === [0x64, 0xff9b, 0, 0, 0, 0].join(':');
  const isMapped = head === '0:0:0:0:0:65535' || head === '0:0:0:0:65535:0';
  const isCompatible = head === '0:0:0:0:0:0' && groups[6] !== 0;
  return isTranslated || isMapped || isCompatible ? dotted(groups[6], groups[7]) : undefined;
}

function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const read = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((hex) => parseInt(hex, 16));
  const [first, last] = [read(left), read(right ?? '')];
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}

/** A look-up that refuses a name if one of its addresses is not allowed. */
export function onlyTo(
  isAllowed: (address: string) => Promise<boolean>,
  lookup: LookupFunction,
): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, options, (error, address, family) => {
      if (error !== null) return callback(error, address, family);
      const found = Array.isArray(address) ? address.map((entry) => entry.address) : [address];
      Promise.all(found.map(isAllowed)).then(
        (allowed) => callback(allowed.every(Boolean) ? null : privateAddressError(hostname), address, family),
        (cause: unknown) => callback(cause as NodeJS.ErrnoException, address, family),
      );
    });
}

export const privateAddressCode = 'ERR_PRIVATE_ADDRESS';

/** The error for a host that is refused before anything is sent. */
export function privateAddressError(host: string): NodeJS.ErrnoException {
  const message = `${host} is in a private network, and the service is not: nothing is fetched from there`;
  return Object.assign(new Error(message), { code: privateAddressCode, syscall: 'connect' });
}

export interface ServicePlaceOptions {
  /** Base URLs of the services that name the files. */
  readonly services: readonly string[];
  readonly lookup: LookupFunction;
  readonly isProxied: (url: URL) => boolean;
}

/**
 * Decides which addresses a service may name: public ones, and those of a private network or of this machine only if the
 * service itself is there. Its own name is looked up once, so that a later change of its address has no effect.
 */
export function createServicePlace(options: ServicePlaceOptions): (address: string) => Promise<boolean> {
  let known: Promise<readonly string[]> | undefined;
  return async (address) => {
    const kind = addressKind(address);
    if (kind === 'public') return true;
    known ??= Promise.all(options.services.map((service) => addressesOf(service, options))).then((all) =>
      // If one of its addresses is public, the service is on the internet.
      all.filter((own) => own.every((one) => addressKind(one) !== 'public')).flat(),
    );
    const own = await known;
    return own.some((one) => one === address || isNear(kind, addressKind(one)));
  };
}

/** A service on this machine may also name its private network, but not the other way round. */
function isNear(kind: AddressKind | undefined, service: AddressKind | undefined): boolean {
  if (kind === 'loopback') return service === 'loopback';
  return kind === 'private' && (service === 'loopback' || service === 'private');
}

/** Empty if the name is unknown here, or the proxy looks it up. */
function addressesOf(service: string, options: ServicePlaceOptions): Promise<string[]> {
  if (!URL.canParse(service)) return Promise.resolve([]);
  const url = new URL(service);
  const host = bareHost(url.hostname);
  if (addressKind(host) !== undefined) return Promise.resolve([host]);
  if (options.isProxied(url)) return Promise.resolve([]);
  return new Promise((resolve) =>
    options.lookup(host, { all: true }, (error, found) => {
      if (error !== null) resolve([]);
      else resolve(Array.isArray(found) ? found.map(({ address }) => address) : [found]);
    }),
  );
}
