import { networkOf } from '@tollgate/platform/service/network-of'
import type { ServedServer } from '../servers/served-server.ts'

export type OpenRequestLimits = {
  readonly perCustomerMax: number
  readonly perServerMax: number
  readonly totalMax: number
}

/** Which limit a request has met. */
export type Bound = 'customer' | 'server' | 'total'

/** The place of one open request. */
export type Place = {
  /** Gives the place back. Calls after the first do nothing. */
  readonly leave: () => void
}

/**
 * Requests to MCP servers that are open in this process. One customer, or the customers of one server, must not take the sockets
 * and the memory of all.
 */
export class OpenRequests {
  readonly #limits: OpenRequestLimits
  readonly #perCustomer = new Map<string, number>()
  readonly #perServer = new Map<string, number>()
  #total = 0

  constructor(limits: OpenRequestLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#total
  }

  /** `caller` is what `callerOf` returns. */
  enter({ environment, reference }: ServedServer, caller: string): Place | Bound {
    const { perCustomerMax, perServerMax, totalMax } = this.#limits
    const server = `${environment} ${reference}`
    if ((this.#perCustomer.get(caller) ?? 0) >= perCustomerMax) return 'customer'
    if ((this.#perServer.get(server) ?? 0) >= perServerMax) return 'server'
    if (this.#total >= totalMax) return 'total'
    change(this.#perCustomer, caller, 1)
    change(this.#perServer, server, 1)
    this.#total += 1
    let isOpen = true
    return {
      leave: () => {
        if (!isOpen) return
        isOpen = false
        change(this.#perCustomer, caller, -1)
        change(this.#perServer, server, -1)
        this.#total -= 1
      },
    }
  }
}

/** Entries of 0 are removed, so that the map holds open ones alone. */
function change(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

/** Names whom a request is counted for: the customer, also across servers of a provider, or the network of a caller without a token. */
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
  server: 'Too many requests to this MCP server are open. Try again in a few seconds.',
  total: 'Too many requests are open. Try again in a few seconds.',
}
