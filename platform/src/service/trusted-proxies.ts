import type { BlockList } from 'node:net'
import { isIP } from 'node:net'
import type { Setting } from '../config/settings.ts'
import { parseAllowList } from '../outbound/allow-list.ts'

/** Proxies whose X-Forwarded-* headers are trusted. */
export type TrustedProxies = { readonly networks: BlockList }

/** Names of networks, which the setting of the control plane accepts as well. */
const namedNetworks: Readonly<Record<string, string>> = {
  loopback: '127.0.0.0/8,::1/128',
  linklocal: '169.254.0.0/16,fe80::/10',
  uniquelocal: '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7',
}

export const trustedProxiesSetting = {
  variable: 'TOLLGATE_TRUSTED_PROXIES',
  description:
    'Proxies in front of this service whose X-Forwarded-* headers are trusted: addresses, networks (10.1.0.0/16), or the names ' +
    'loopback, linklocal and uniquelocal, separated by commas; if empty, none is trusted',
  defaultText: '',
  parse: parseTrustedProxies,
} satisfies Setting<TrustedProxies>

/** Reads addresses, networks and the names above, separated by commas. Throws if an entry is something else. */
export function parseTrustedProxies(text: string): TrustedProxies {
  const entries = text.split(',').map((entry) => entry.trim().toLowerCase())
  const { hosts, networks } = parseAllowList(
    entries.map((entry) => namedNetworks[entry] ?? entry).join(','),
  )
  const [host] = hosts
  if (host !== undefined) {
    throw new Error(
      `${host} is no address or network, and not loopback, linklocal or uniquelocal; host names are not looked up`,
    )
  }
  return { networks }
}

export function isTrusted({ networks }: TrustedProxies, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && networks.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/**
 * Returns the address from which a request came. `forwardedFor` is the whole X-Forwarded-For header. Each proxy appends the address
 * of its own client. So the entries are reliable from the right up to the first address that is no trusted proxy, and the client
 * wrote the entries before it.
 */
export function clientAddressOf(
  trusted: TrustedProxies,
  peer: string,
  forwardedFor: string,
): string {
  let address = peer
  for (const entry of forwardedFor.split(',').reverse()) {
    if (!isTrusted(trusted, address)) return address
    const next = addressIn(entry.trim())
    // The proxy did not write an address, so no entry before it is reliable.
    if (next === undefined) return address
    address = next
  }
  return address
}

/** Some proxies append a port. */
function addressIn(entry: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1] ?? entry.replace(/^([\d.]+):\d+$/, '$1')
  return isIP(bare) === 0 ? undefined : bare
}
