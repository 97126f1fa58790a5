import { randomUUID } from 'node:crypto'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'
import { createCustomer } from '../offers.ts'
import type { SeededRandom } from '../../../tools/src/client/seeded-random.ts'
import type { Amounts, Cap } from './hold-ledger.ts'

/** Prices in 10^-6 credits per unit. */
const prices = { input: 3_000, output: 15_000, calls: 500_000, images: 250_000 } as const
export type Meter = keyof typeof prices
export const meters = Object.keys(prices) as Meter[]
/** A caller does not know the cost of an image before the call, so it holds credits for it. No cap limits this meter. */
export const cappedMeters = ['input', 'output', 'calls'] as const
export const eventType = 'chat.turn'

/** The meter of each limit of the plan. */
export const meterOfLimit: Readonly<Record<string, string>> = {
  ...{ input: 'input', output: 'output', rolling: 'output', calls: 'calls', monthly: 'calls' },
}

/** One customer of a plan of its own, whose limits are of different kinds. */
export type Market = {
  readonly customerRef: string
  readonly productRef: string
  /** The reference under which usage is sent. */
  readonly usedAs: string
  readonly isPrepaid: boolean
  readonly caps: readonly Cap[]
}

export type MarketMeters = {
  readonly names: Readonly<Record<Meter, string>>
  readonly references: Readonly<Record<Meter, string>>
}

/** Creates meters that all read the same events. */
export async function createMeters(client: TollgateClient): Promise<MarketMeters> {
  const names: Record<string, string> = {}
  const references: Record<string, string> = {}
  for (const meter of meters) {
    names[meter] = `held_${meter}`
    const created = await client.require('POST', '/v1/ui/meters', {
      ...{ name: names[meter], aggregation: 'sum', value: `/${meter}` },
      event: { type: eventType },
    })
    references[meter] = (created as { reference: string }).reference
  }
  return { names, references } as MarketMeters
}

/**
 * Creates a customer that a wallet pays for, or one with only caps whose usage has another reference than the holds. Sizes are
 * drawn so that each of the limits is the tightest one in some stories.
 */
export async function createMarket(
  client: TollgateClient,
  { names }: MarketMeters,
  random: SeededRandom,
  isPrepaid: boolean,
): Promise<Market> {
  const input = random.integer(6_000, 12_000)
  const output = random.integer(1_500, 3_000)
  const calls = random.integer(12, 24)
  const credits = random.integer(40, 100)
  const { reference: productRef } = await client.createProduct({ name: randomUUID() })
  const terms = isPrepaid
    ? { type: 'usage-based', billingModel: 'pre-paid' }
    : { type: 'recurring', price: 0, billingCycle: 'monthly' }
  const priced = (meter: Meter, cap?: number) => ({
    ...{ meter: names[meter], key: meter, ...(cap !== undefined && { cap }) },
    ...(isPrepaid && { creditsPerUnit: `${prices[meter] / 1_000_000}` }),
  })
  const plan = await client.createPlan(productRef, {
    ...{ name: 'Held', default: true, ...terms },
    charges: [
      priced('input', input),
      // The limit below is tighter, so that a rolling window decides about this meter.
      priced('output', 2 * output),
      priced('calls', 2 * calls),
      ...(isPrepaid ? [priced('images')] : []),
    ],
    usageLimits: [
      { meter: names.output, cap: output, per: 'rolling', rollingSeconds: 3_600, key: 'rolling' },
      { meter: names.calls, cap: calls, per: 'month', key: 'monthly' },
    ],
  })
  const externalRef = randomUUID()
  const customerRef = await createCustomer(client, externalRef)
  await client.require('POST', '/v1/sdk/activate', {
    ...{ customerRef, productRef, planRef: plan.reference },
  })
  const caps = [
    { series: 'input', cap: input },
    { series: 'output', cap: output },
    { series: 'calls', cap: calls },
  ]
  if (!isPrepaid) return { customerRef, productRef, usedAs: externalRef, isPrepaid, caps }
  const path = `/v1/sdk/customers/${customerRef}/credits`
  await client.require('POST', path, { credits })
  const wallet = { series: 'credits', cap: credits * 1_000_000 }
  return { customerRef, productRef, usedAs: customerRef, isPrepaid, caps: [...caps, wallet] }
}

/** Returns the amounts with their price, if a wallet pays. */
export function withPrice(amounts: Amounts, { isPrepaid }: Market): Amounts {
  if (!isPrepaid) return amounts
  const credits = meters.reduce((sum, meter) => sum + (amounts[meter] ?? 0) * prices[meter], 0)
  return { ...amounts, credits }
}
