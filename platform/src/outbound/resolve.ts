import { lookup, Resolver } from 'node:dns/promises'
import type { LookupAddress } from 'node:dns'
import { isHostAllowed, type AllowList } from './allow-list.ts'

/** All addresses of a name, or a rejection. */
export type Resolve = (host: string) => Promise<LookupAddress[]>

/** Names that the operator allows as the operating system finds them, in its own files as well; all others by DNS. */
export function resolveOutbound(allowed: AllowList): Resolve {
  const resolve = resolveByDns()
  return (host) => (isHostAllowed(allowed, host) ? lookup(host, { all: true }) : resolve(host))
}

/**
 * Asks name servers, those of the system if none are given, and nothing else. The system's own way takes one of a few
 * threads that reading files needs too, for as long as it waits: names whose servers never answer would stop the process.
 */
export function resolveByDns(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const found = [...toAddresses(v4, 4), ...toAddresses(v6, 6)]
    // A name with addresses of one kind alone is as good as any.
    if (found.length === 0 && v4.status === 'rejected') throw v4.reason
    return found
  }
}

const queryTimeoutMs = 1_000

function toAddresses(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []
}
