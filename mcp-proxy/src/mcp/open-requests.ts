import { networkOf } from '@tollgate/platform/service/network-of'
import type { ServedServer } from '../servers/served-server.ts'

export type OpenRequestLimits = {
  readonly perCustomerMax: number
  readonly perProviderMax: number
  readonly totalMax: number
}

/** The limit that a request exceeded. */
export type Bound = 'customer' | 'provider' | 'total'

/** The place of one open request. */
export type Place = {
  /** Releases the place. Calls after the first do nothing. */
  readonly leave: () => void
}

/**
 * Limits the requests to MCP servers that are open in this process, so that one customer, or all servers and customers of one
 * provider, cannot use up the sockets and the memory of the process.
 */
export class OpenRequests {
  readonly #limits: OpenRequestLimits
  readonly #perCustomer = new Map<string, number>()
  readonly #perProvider = new Map<string, number>()
  #total = 0

  constructor(limits: OpenRequestLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#total
  }

  /** Takes a place, or returns the limit that is exceeded. `caller` is the result of `callerOf`. */
  enter({ environment, providerId }: ServedServer, caller: string): Place | Bound {
    const { perCustomerMax, perProviderMax, totalMax } = this.#limits
    const provider = `${environment} ${providerId}`
    if ((this.#perCustomer.get(caller) ?? 0) >= perCustomerMax) return 'customer'
    if ((this.#perProvider.get(provider) ?? 0) >= perProviderMax) return 'provider'
    if (this.#total >= totalMax) return 'total'
    change(this.#perCustomer, caller, 1)
    change(this.#perProvider, provider, 1)
    this.#total += 1
    let isOpen = true
    return {
      leave: () => {
        if (!isOpen) return
        isOpen = false
        change(this.#perCustomer, caller, -1)
        change(this.#perProvider, provider, -1)
        this.#total -= 1
      },
    }
  }
}

/** Entries that reach 0 are removed, so that the map contains only open requests. */
function change(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

/**
 * Returns the key under which a request is counted: the customer, across all servers of the provider, or the network of a caller
 * without a token.
 */
export function callerOf(
  { environment, providerId }: ServedServer,
  customerRef: string | undefined,
  address: string,
): string {
  return customerRef === undefined
    ? `network ${networkOf(address)}`
    : `${environment} ${providerId} ${customerRef}`
}

export const boundMessages: Readonly<Record<Bound, string>> = {
  customer:
    'Too many requests of this customer are open. Wait until one has ended, then try again.',
  provider:
    'Too many requests to MCP servers of this provider are open. Try again in a few seconds.',
  total: 'Too many requests are open. Try again in a few seconds.',
}
