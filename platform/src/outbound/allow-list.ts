import { BlockList, isIP } from 'node:net'

/** Addresses that are not public but that the operator allows. */
export type AllowList = {
  /** The text of the setting. */
  readonly text: string
  /** Host names in lower case, as in a URL. */
  readonly hosts: ReadonlySet<string>
  readonly networks: BlockList
}

/** Parses host names, addresses and networks (`10.1.0.0/16`), separated by commas. Throws for any other entry. */
export function parseAllowList(text: string): AllowList {
  const hosts = new Set<string>()
  const networks = new BlockList()
  for (const entry of entriesOf(text)) {
    const [address = '', prefix] = entry.split('/')
    const family = isIP(address)
    if (family === 0) {
      if (!/^[a-z0-9.-]+$/.test(entry))
        throw new Error(`${entry} is not a host, address or network`)
      hosts.add(entry)
      continue
    }
    const bitsMax = family === 4 ? 32 : 128
    const bits = prefix === undefined ? bitsMax : Number(prefix)
    if (!Number.isInteger(bits) || bits < 0 || bits > bitsMax) {
      throw new Error(`${entry} is not a network: expected /0 to /${bitsMax}`)
    }
    networks.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6')
  }
  return { text, hosts, networks }
}

/** Returns whether the list contains the host. `host` is as in a URL, but an IPv6 address has no brackets. */
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
