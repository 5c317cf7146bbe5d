import type { LookupFunction } from 'node:net';
import { addressKind, type AddressKind } from './private-address.js';

export interface ServicePlaceOptions {
  /** The base URLs of the services that name the files. */
  readonly services: readonly string[];
  readonly lookup: LookupFunction;
  readonly isProxied: (url: URL) => boolean;
}

/**
 * Which addresses a service may name: public ones, and those of a private network or of this machine only where the
 * service is there itself. Its own name is looked up once, so that it cannot move later.
 */
export function createServicePlace(options: ServicePlaceOptions): (address: string) => Promise<boolean> {
  let known: Promise<readonly string[]> | undefined;
  return async (address) => {
    const kind = addressKind(address);
    if (kind === 'public') return true;
    known ??= Promise.all(options.services.map((service) => addressesOf(service, options))).then((all) =>
      // Where one of its addresses is public, the service is on the internet.
      all.filter((own) => own.every((one) => addressKind(one) !== 'public')).flat(),
    );
    const own = await known;
    return own.some((one) => one === address || isNear(kind, addressKind(one)));
  };
}

/** What is on this machine reaches its network too, but not the other way round. */
function isNear(kind: AddressKind | undefined, service: AddressKind | undefined): boolean {
  if (kind === 'loopback') return service === 'loopback';
  return kind === 'private' && (service === 'loopback' || service === 'private');
}

/** None where the name is unknown here, or only the proxy looks it up. */
function addressesOf(service: string, options: ServicePlaceOptions): Promise<string[]> {
  if (!URL.canParse(service)) return Promise.resolve([]);
  const url = new URL(service);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (addressKind(host) !== undefined) return Promise.resolve([host]);
  if (options.isProxied(url)) return Promise.resolve([]);
  return new Promise((resolve) =>
    options.lookup(host, { all: true }, (error, found) => {
      if (error !== null) resolve([]);
      else resolve(Array.isArray(found) ? found.map(({ address }) => address) : [found]);
    }),
  );
}
