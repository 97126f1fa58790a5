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
  /** Whether the authorization server can revoke them: to it those of a later time are not valid yet. */
  areTokensIssued: boolean
  readonly sessions: Map<string, Record<string, string>>
  readonly facts: CallFact[]
  readonly paymentIds: string[]
  /** What the service said last of the customer's plan, and what had been recorded by then. */
  limits: Limits
  /** Calls that the client left, whose unit may be held for a moment. */
  leftCalls: number
  /** The proxy whose last call did not count: others do not know that its unit is about to be released. */
  releasedBy: number | undefined
}

type Limits = {
  /** Empty: none. Undefined: the product is gone. */
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

/** Whether a unit may be held for a call that does not count, as far as these proxies know. */
export function mayBeHeld({ leftCalls, releasedBy }: Player, proxies: readonly number[]): boolean {
  const isOther = (proxy: number): boolean => proxy !== releasedBy
  return leftCalls > 0 || (releasedBy !== undefined && proxies.some(isOther))
}
