/**
 * Which addresses a webhook may not be sent to by default: everything that is not on the public internet. The answer is
 * asked of the address that is connected to, never of a name, so that a name cannot change its mind in between.
 */
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

/** Special-purpose IPv4 networks (RFC 6890 and its successors). */
const PRIVATE_V4: readonly [network: string, prefix: number][] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16],
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/** Public IPv6 is 2000::/3; the rest (loopback, mapped IPv4, NAT64, unique-local, link-local, multicast) is not, nor are these parts of it. */
const PRIVATE_V6: readonly [network: string, prefix: number][] = [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 32], // Teredo, which carries an IPv4 address
  ['2001:10::', 28],
  ['2001:20::', 28],
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which carries an IPv4 address
  ['3fff::', 20], // documentation
];

// Two lists: in one, `::/3` would hold every IPv4 address, as its mapped form.
const v4 = new BlockList();
for (const [network, prefix] of PRIVATE_V4) v4.addSubnet(network, prefix, 'ipv4');
const v6 = new BlockList();
for (const [network, prefix] of PRIVATE_V6) v6.addSubnet(network, prefix, 'ipv6');

/** Is this address (not a name) outside the public internet? */
export function isPrivateAddress(address: string): boolean {
  // A zone (`fe80::1%eth0`) only says which link is meant.
  const bare = address.split('%')[0] ?? '';
  return isIPv6(bare) ? v6.check(bare, 'ipv6') : v4.check(bare, 'ipv4');
}

/** Does the host of this URL, written as an address, lie outside the public internet? Names are not looked up. */
export function hasPrivateHost(url: URL): boolean {
  // URL has already turned decimal, octal, hexadecimal and shortened IPv4 forms into the usual one.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && isPrivateAddress(host);
}

/** Thrown instead of connecting. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';

  constructor(host: string) {
    super(`${host} is in a private network; set webhooks.allowPrivateNetwork to send there.`);
  }
}

/** For `http.request`: resolves a name like `dns.lookup`, but answers with public addresses only. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const found = error ? [] : addresses.filter(({ address }) => !isPrivateAddress(address));
    const first = found[0];
    if (!first) callback(error ?? new PrivateAddressError(hostname), '', 0);
    else if (options.all) callback(null, found);
    else callback(null, first.address, first.family);
  });
};
