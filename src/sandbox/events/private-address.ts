import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * Networks that are not part of the public internet, from the IANA registries of special-purpose addresses.
 */
const NETWORKS: readonly (readonly [network: string, prefix: number, family: 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 127, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];

/**
 * @returns true if a host, as in `URL.hostname`, is obviously this machine or in a private network. For other
 *   names, only the look-up can tell.
 */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  if (isIP(host) !== 0) return isPrivateAddress(host);
  return host === 'localhost' || /\.(localhost|local|internal)$/.test(host) || !host.includes('.');
}

function isPrivateAddress(address: string): boolean {
  const list = new BlockList();
  for (const [network, prefix, family] of NETWORKS) list.addSubnet(network, prefix, family);
  // BlockList checks an IPv4-mapped IPv6 address as the IPv4 address.
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/**
 * Resolves a name and keeps only public addresses, so that a name cannot lead to an address that is itself
 * refused.
 */
export const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, []);
    const open = addresses.filter(({ address }) => !isPrivateAddress(address));
    const [first] = open;
    if (first === undefined) return callback(new Error('the name leads to a private address'), []);
    return options.all === true ? callback(null, open) : callback(null, first.address, first.family);
  });
};
