import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { isHostAllowed, type AllowList } from './allow-list.ts'
import { OutboundError } from './outbound-error.ts'
import { isPublicAddress } from './public-address.ts'
import type { Resolve } from './resolve.ts'

type Options = {
  readonly allowed: AllowList
  readonly connectTimeoutMs: number
  readonly resolve: Resolve
  /** Certificate authorities in PEM, used instead of those of the system. */
  readonly certificateAuthorities?: string | undefined
}

/**
 * Connects only to addresses that were checked. The checked address is the one that the socket connects to, so a DNS name that
 * changes afterwards (DNS rebinding) has no effect. If one address of a name is not public, the whole name is refused, because such
 * a name was set up to reach an internal address.
 */
export function checkedConnector({
  allowed,
  connectTimeoutMs,
  resolve,
  certificateAuthorities: ca,
}: Options): buildConnector.connector {
  const mayReach = (address: string): boolean =>
    isPublicAddress(address) || isHostAllowed(allowed, address)

  const findAddresses = async (host: string): Promise<LookupAddress[]> => {
    const isAllowed = isHostAllowed(allowed, host)
    const addresses = await resolve(host).catch(unresolved)
    if (addresses.length === 0) return unresolved({ code: 'ENODATA' })
    if (!isAllowed && !addresses.every((each) => mayReach(each.address))) throw notPublic()
    return addresses
  }
  const lookup: LookupFunction = (host, options, callback) => {
    findAddresses(host).then(
      (addresses) => {
        const [first] = addresses
        if (options.all === true) callback(null, addresses)
        else callback(null, first!.address, first!.family)
      },
      (error: OutboundError) => callback(error, ''),
    )
  }
  const connect = buildConnector({ timeout: connectTimeoutMs, lookup, ca })
  return (target, callback) => {
    // An IP address is not looked up, so it is checked here.
    if (isIP(target.hostname) !== 0 && !mayReach(target.hostname)) callback(notPublic(), null)
    else connect(target, callback)
  }
}

function notPublic(): OutboundError {
  return new OutboundError('refused', 'The address is not a public one')
}

function unresolved(error: { readonly code?: unknown }): never {
  const what = typeof error.code === 'string' ? ` (${error.code})` : ''
  throw new OutboundError('unresolved', `The name leads to no address${what}`, { cause: error })
}
