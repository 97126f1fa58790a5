import { lookup as lookupName, type LookupAddress, type LookupOptions } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { isHostAllowed, type AllowList } from './allow-list.ts'
import { OutboundError } from './outbound-error.ts'
import { isPublicAddress } from './public-address.ts'

/** All addresses of a name, as the operating system finds them; tests bring their own. */
export type Resolve = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * Connects to addresses that were checked, and to no others: the address that is checked is the one that the socket
 * connects to, so a name that means something else a moment later changes nothing. One address of a name that is not
 * public is enough to refuse them all: such a name was made to lead somewhere else.
 */
export function checkedConnector(
  allowed: AllowList,
  connectTimeoutMs: number,
  resolve: Resolve = lookupName,
): buildConnector.connector {
  const mayReach = (address: string): boolean =>
    isPublicAddress(address) || isHostAllowed(allowed, address)

  const lookup: LookupFunction = (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '')
      const isFine =
        isHostAllowed(allowed, host) || addresses.every((each) => mayReach(each.address))
      const [first] = addresses
      if (first === undefined || !isFine) return callback(notPublic(), '')
      if (options.all === true) return callback(null, addresses)
      callback(null, first.address, first.family)
    })
  }
  const connect = buildConnector({ timeout: connectTimeoutMs, lookup })
  return (target, callback) => {
    // Nobody looks up what is an address already.
    if (isIP(target.hostname) !== 0 && !mayReach(target.hostname)) callback(notPublic(), null)
    else connect(target, callback)
  }
}

function notPublic(): OutboundError {
  return new OutboundError('refused', 'The address is not a public one')
}
