import { BlockList, isIP } from 'node:net'

/*
 * Networks of the IANA registries of special-purpose addresses. They lead to private networks, to the machine itself, to cloud
 * metadata or nowhere.
 */

const specialIpv4 = networks('ipv4', [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, with the metadata of clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // IETF protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
])

/**
 * The only global IPv6 range. Everything else is special: loopback, link-local, private, mapped and translated IPv4, multicast,
 * segment routing.
 */
const globalIpv6 = networks('ipv6', [['2000::', 3]])

const specialIpv6 = networks('ipv6', [
  ['2001::', 23], // IETF protocol assignments: Teredo, ORCHID, benchmarks
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which carries any IPv4 address
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
])

/** Returns whether an IPv4 or IPv6 address (without brackets) is on the public internet. False for text that is not an address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !specialIpv4.check(address, 'ipv4')
    case 6:
      return globalIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6')
    default:
      return false
  }
}

function networks(
  family: 'ipv4' | 'ipv6',
  list: readonly (readonly [network: string, prefixBits: number])[],
): BlockList {
  const found = new BlockList()
  for (const [network, prefixBits] of list) found.addSubnet(network, prefixBits, family)
  return found
}
