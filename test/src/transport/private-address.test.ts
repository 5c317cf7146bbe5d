import { describe, expect, it } from 'vitest';
import { isPrivateAddress, publicOnly } from '../../../src/transport/private-address.js';

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
    'localhost',
    '',
  ])('%s is not', (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });
});

describe('publicOnly', () => {
  type Found = Parameters<Parameters<Parameters<typeof publicOnly>[0]>[2]>;

  function lookUp(...found: Found): Found {
    let got: Found = [null, ''];
    publicOnly((_host, _options, callback) => callback(...found))(
      'x.example',
      {},
      (...given) => (got = given),
    );
    return got;
  }

  it('lets a public address pass', () => {
    expect(lookUp(null, '8.8.8.8', 4)).toEqual([null, '8.8.8.8', 4]);
  });

  it('refuses a private one, alone or among others', () => {
    expect(lookUp(null, '10.0.0.1', 4)[0]).toMatchObject({ code: 'ERR_PRIVATE_ADDRESS' });
    const several = [
      { address: '8.8.8.8', family: 4 },
      { address: '::1', family: 6 },
    ];
    expect(lookUp(null, several)[0]?.message).toContain('x.example');
  });

  it('hands on a failure', () => {
    const error = new Error('no such name');
    expect(lookUp(error, '')[0]).toBe(error);
  });
});
