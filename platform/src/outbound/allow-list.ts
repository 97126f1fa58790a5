import { BlockList, isIP } from 'node:net'

/** What the operator lets requests reach although it is not public. */
export type AllowList = {
  /** As it was written. */
  readonly text: string
  /** In lower case, as they stand in a URL. */
  readonly hosts: ReadonlySet<string>
  readonly networks: BlockList
}

/** Host names, addresses and networks (`10.1.0.0/16`) with commas between them. Throws on what is none of these. */
export function parseAllowList(text: string): AllowList {
  const hosts = new Set<string>()
  const networks = new BlockList()
  for (const entry of entriesOf(text)) {
    const [address = '', prefix] = entry.split('/')
    const family = isIP(address)
    if (family === 0) {
      if (!/^[a-z0-9.-]+$/.test(entry)) throw new Error(`${entry} is no host, address or network`)
      hosts.add(entry)
      continue
    }
    const bitsMax = family === 4 ? 32 : 128
    const bits = prefix === undefined ? bitsMax : Number(prefix)
    if (!Number.isInteger(bits) || bits < 0 || bits > bitsMax) {
      throw new Error(`${entry} is no network: expected /0 to /${bitsMax}`)
    }
    networks.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6')
  }
  return { text, hosts, networks }
}

/** `host` as in a URL, but an IPv6 address without its brackets. */
export function isHostAllowed({ hosts, networks }: AllowList, host: string): boolean {
  const family = isIP(host)
  if (family === 0) return hosts.has(host.toLowerCase())
  return networks.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

function entriesOf(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
}
