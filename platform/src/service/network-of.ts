import { isIPv6 } from 'node:net'

/**
 * Returns the network under which attempts are counted: an IPv4 address, or the /64 of an IPv6 address, which is the smallest
 * network that a customer of a provider gets and has 2^64 addresses. Text that is no address is returned unchanged.
 */
export function networkOf(address: string): string {
  const [bare = ''] = address.split('%')
  if (!isIPv6(bare)) return address
  const groups = groupsOf(bare)
  const isMappedIpv4 = groups.slice(0, 5).every((each) => each === 0) && groups[5] === 0xffff
  if (isMappedIpv4) return groups.slice(6).flatMap(bytesOf).join('.')
  const prefix = groups.slice(0, 4).map((each) => each.toString(16))
  return `${prefix.join(':')}::/64`
}

/** Returns the eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  // The canonical spelling turns an IPv4 address at the end into two groups.
  const spelled = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = [], tail = []] = spelled
    .split('::')
    .map((side) => side.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16))
}

function bytesOf(group: number): [number, number] {
  return [group >> 8, group & 0xff]
}
