import { setTimeout as sleep } from 'node:timers/promises'
import type { Outcome } from '@tollgate/schemas/meter-event'
import { requestWithRetries } from '@tollgate/deploy/client/request-with-retries'
import type { SeededRandom } from '../client/seeded-random.ts'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { createCustomerTally, type CustomerTally } from './tally.ts'

export type SessionContext = {
  readonly client: TollgateClient
  readonly random: SeededRandom
  readonly productRef: string
  /** Id of this run, which makes its customers and idempotency keys unique. */
  readonly run: string
  /** Numbers of every customer, updated while the traffic runs. */
  readonly tallies: CustomerTally[]
  isFinished(): boolean
}

const tools = [
  'get_forecast',
  'get_alerts',
  'geocode',
  'historical_average',
  'radar_image',
] as const
const failureRate = 0.06
const resendRate = 0.03
const pauseMsMax = 120
/** Most agents make few calls. Some process a long list and reach the limit of the plan. */
const callsPerSession = [4, 8, 15, 30, 60, 130] as const
const attemptsAfterDenialMax = 3

/**
 * Simulates one agent of one customer at an MCP server. Before every tool call it checks the limit. It records the outcome of the
 * call, or a paywall if the call is denied. Calls come in bursts with pauses between them.
 */
export async function runMcpSession(context: SessionContext, number: number): Promise<void> {
  const { client, random } = context
  const customerRef = `demo_${context.run}_${number}`
  const tally = createCustomerTally(customerRef)
  context.tallies.push(tally)
  const customer = { email: `${customerRef}@demo.example`, externalRef: customerRef }
  // Every fourth customer is used before the provider's backend registers it.
  const isRegisteredLate = number % 4 === 0
  if (!isRegisteredLate) await client.createCustomer(customer)

  let calls = random.pick(callsPerSession)
  let deniedInARow = 0
  for (let call = 0; calls > 0 && !context.isFinished(); call++, calls--) {
    const answer =
      isRegisteredLate && call < 3
        ? undefined
        : await client.checkLimit(customerRef, context.productRef)
    if (answer && !answer.withinLimits) {
      tally.denied++
      deniedInARow++
      await record(context, tally, call, 'paywall')
      if (deniedInARow >= attemptsAfterDenialMax) break
    } else {
      await record(context, tally, call, random.chance(failureRate) ? 'fail' : 'success')
    }
    if (isRegisteredLate && call === 2) await client.createCustomer(customer)
    if (random.chance(0.2)) await sleep(random.integer(0, pauseMsMax))
  }
  // The session may have ended before its customer was registered. An unregistered customer could not be compared.
  if (isRegisteredLate) await client.createCustomer(customer)
}

async function record(
  context: SessionContext,
  tally: CustomerTally,
  call: number,
  outcome: Outcome,
): Promise<void> {
  const { client, random, productRef } = context
  const usage = {
    customerRef: tally.customerRef,
    productRef,
    actionType: 'api_call',
    units: 1,
    outcome,
    duration: random.integer(8, 900),
    idempotencyKey: `${tally.customerRef}:${call}`,
    metadata: { action: 'requests', toolName: random.pick(tools) },
  }
  tally.sent[outcome]++
  await requestWithRetries(() => client.recordUsage(usage))
  tally.acked[outcome]++
  // An agent that lost the answer sends the same call again. It must not be counted twice.
  if (random.chance(resendRate)) await requestWithRetries(() => client.recordUsage(usage))
}
