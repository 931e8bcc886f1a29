import { describe, expect, test } from 'vitest';
import { hasPrivateHost, isPrivateAddress, publicLookup } from '../../../../src/runtime/private-addresses.ts';

const PRIVATE = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '239.255.255.255',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '2001::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd12:3456:789a::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
];

const PUBLIC = ['1.1.1.1', '8.8.8.8', '100.63.255.255', '172.32.0.1', '192.169.0.1', '2606:4700:4700::1111', '2a00::1'];

test.each(PRIVATE)('%s is private', (address) => expect(isPrivateAddress(address)).toBe(true));
test.each(PUBLIC)('%s is public', (address) => expect(isPrivateAddress(address)).toBe(false));

test.each([
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://127.0.0.1./',
  'https://10.0.0.1:8443/hook',
])('the host of %s is private however it is written', (url) => expect(hasPrivateHost(new URL(url))).toBe(true));

test.each(['http://example.com/', 'http://localhost/', 'http://8.8.8.8/'])(
  'the host of %s is no private address',
  (url) => expect(hasPrivateHost(new URL(url))).toBe(false),
);

describe('looking up', () => {
  const look = (host: string, all: boolean) =>
    new Promise((resolve, reject) => {
      publicLookup(host, { all }, (error, address) => (error ? reject(error) : resolve(address)));
    });

  test.each([true, false])('a name that leads to loopback is refused (all addresses: %s)', async (all) => {
    await expect(look('localhost', all)).rejects.toThrow('private network');
  });

  test('an address that is public is answered with', async () => {
    expect(await look('8.8.8.8', false)).toBe('8.8.8.8');
    expect(await look('8.8.8.8', true)).toEqual([{ address: '8.8.8.8', family: 4 }]);
  });

  test('a name that does not exist fails as usual', async () => {
    await expect(look('nowhere.invalid', true)).rejects.toMatchObject({ syscall: 'getaddrinfo' });
  });
});
