import { lookup, Resolver } from 'node:dns/promises'
import type { LookupAddress } from 'node:dns'
import { isHostAllowed, type AllowList } from './allow-list.ts'

/** Returns all addresses of a name, or rejects. */
export type Resolve = (host: string) => Promise<LookupAddress[]>

/**
 * Returns a resolver. Names that the operator allows are resolved by the operating system, including its hosts file; all others by
 * DNS only.
 */
export function resolveOutbound(allowed: AllowList): Resolve {
  const resolve = resolveByDns()
  return (host) => (isHostAllowed(allowed, host) ? lookup(host, { all: true }) : resolve(host))
}

/**
 * Resolves names by DNS only, with the given servers or those of the system. The operating system's resolver would block one of the
 * few threads that file access needs too, so names whose servers never answer would stall the process.
 */
export function resolveByDns(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const found = [...toAddresses(v4, 4), ...toAddresses(v6, 6)]
    // A name may have only IPv4 or only IPv6 addresses.
    if (found.length === 0 && v4.status === 'rejected') throw v4.reason
    return found
  }
}

const queryTimeoutMs = 1_000

function toAddresses(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []
}
