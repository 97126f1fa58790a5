import type { TollgateClient } from '../../../src/client/tollgate-client.ts'
import type { Environment } from '@tollgate/schemas/environment'
import type { Bounds, CallFact } from './ledger.ts'
import { fetchToken, openAgent, type Agent } from './token.ts'
import type { World } from './world.ts'

/** A customer of the product. */
export type Player = {
  readonly reference: string
  readonly agent: Agent
  token: string
  /**
   * Whether the authorization server can revoke the customer's tokens. Tokens from a later time of the test's clock are not valid
   * for it yet.
   */
  areTokensIssued: boolean
  readonly sessions: Map<string, Record<string, string>>
  /** Id of the customer's requests. It is used again after an answer, and changes after a call that was not answered. */
  requestId: number
  readonly facts: CallFact[]
  readonly paymentIds: string[]
  /** The last limits that the service returned, and the usage recorded by then. */
  limits: Limits
  /** Number of calls that the client abandoned, whose units may still be held for a moment. */
  leftCalls: number
  /** The proxy that served the last call that did not count. Other proxies do not know that its unit will be released. */
  releasedBy: number | undefined
}

type Limits = {
  /** Reference of the plan. Empty for no plan, undefined if the product is deleted. */
  readonly planRef: string | undefined
  readonly remaining: number
  readonly used: Bounds
}

let customers = 0

export async function openPlayer(
  world: World,
  client: TollgateClient,
  productRef: string,
  environment: Environment = 'sandbox',
): Promise<Player> {
  customers += 1
  const email = `sequences${customers}@customers.test`
  const { reference } = await client.createCustomer({ email })
  const agent = await openAgent(client, reference, productRef)
  const fetched = await fetchToken(agent)
  return {
    ...{
      reference,
      agent,
      sessions: new Map(),
      requestId: 1,
      facts: [],
      paymentIds: [],
      leftCalls: 0,
      releasedBy: undefined,
    },
    token: world.isAhead ? await world.renewToken(fetched, environment) : fetched,
    areTokensIssued: !world.isAhead,
    limits: { planRef: '', remaining: 0, used: { least: 0, most: 0 } },
  }
}

/** Returns whether a unit may be held for a call that does not count, from the view of these proxies. */
export function mayBeHeld({ leftCalls, releasedBy }: Player, proxies: readonly number[]): boolean {
  const isOther = (proxy: number): boolean => proxy !== releasedBy
  return leftCalls > 0 || (releasedBy !== undefined && proxies.some(isOther))
}
