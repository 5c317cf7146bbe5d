import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

const ranges = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const;

const blocked = ranges.reduce((list, [address, bits]) => {
  list.addSubnet(address, bits, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return list;
}, new BlockList());

/** Whether an IP address is none of the public internet: loopback, private, link-local, multicast, reserved. */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$|%.*$/g, '');
  const version = isIP(bare);
  return version !== 0 && blocked.check(bare, version === 6 ? 'ipv6' : 'ipv4');
}

/** A look-up that refuses names which lead to a private address. */
export function publicOnly(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, options, (error, address, family) => {
      const found = Array.isArray(address) ? address.map((entry) => entry.address) : [address];
      const refused = error === null && found.some(isPrivateAddress);
      callback(refused ? privateAddressError(hostname) : error, address, family);
    });
}

/** Refused before anything is sent. */
export function privateAddressError(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`a redirect leads into a private network (${host})`), {
    code: 'ERR_PRIVATE_ADDRESS',
    syscall: 'connect',
  });
}
