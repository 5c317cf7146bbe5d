import { describe, expect, it } from 'vitest';
import { addressKind, isPrivateAddress, onlyTo } from '../../../src/transport/connections/private-address.js';

describe('isPrivateAddress', () => {
  it.each([
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    '[::1]',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::8.8.8.8',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
    '2001::1',
    'fec0::1',
    '192.0.2.1',
    '240.0.0.1',
  ])('%s is', (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  it.each([
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '192.169.0.1',
    '2606:4700::1',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2002:808:808::1',
    'localhost',
    '',
  ])('%s is not', (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });
});

describe('addressKind', () => {
  it.each([
    ['127.1.2.3', 'loopback'],
    ['0.0.0.0', 'loopback'],
    ['[::]', 'loopback'],
    ['10.0.0.1', 'private'],
    ['fd00::1', 'private'],
    ['169.254.169.254', 'reserved'],
    ['224.0.0.1', 'reserved'],
    ['8.8.8.8', 'public'],
    ['x.example', undefined],
  ])('%s: %s', (address, kind) => {
    expect(addressKind(address)).toBe(kind);
  });

  it.each(['2130706433', '0177.0.0.1', '0x7f.1', '127.1', '0x7f000001', '①27.0.0.1'])(
    '%s in a URL is loopback',
    (host) => {
      expect(addressKind(new URL(`http://${host}/`).hostname)).toBe('loopback');
    },
  );
});

describe('onlyTo', () => {
  type Found = Parameters<Parameters<Parameters<typeof onlyTo>[1]>[2]>;

  function lookUp(...found: Found): Promise<Found> {
    const isPublic = (address: string) => Promise.resolve(!isPrivateAddress(address));
    return new Promise((resolve) =>
      onlyTo(isPublic, (_host, _options, callback) => callback(...found))('x.example', {}, (...given) =>
        resolve(given),
      ),
    );
  }

  it('lets a public address pass', async () => {
    expect(await lookUp(null, '8.8.8.8', 4)).toEqual([null, '8.8.8.8', 4]);
  });

  it('refuses a private one, alone or among others', async () => {
    expect((await lookUp(null, '10.0.0.1', 4))[0]).toMatchObject({ code: 'ERR_PRIVATE_ADDRESS' });
    const several = [
      { address: '8.8.8.8', family: 4 },
      { address: '::1', family: 6 },
    ];
    expect((await lookUp(null, several))[0]?.message).toContain('x.example');
  });

  it('hands on a failure', async () => {
    const error = new Error('no such name');
    expect((await lookUp(error, ''))[0]).toBe(error);
  });
});
