import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'

/** Prices of both plans by charge, in 10^-12 credits or minor units per unit. Sums of cached tokens have fractions of 10^-6. */
const prices = {
  input: { picos: 300_000_000n, text: '0.0003' },
  output: { picos: 1_500_000_000n, text: '0.0015' },
  cached: { picos: 30_400_000n, text: '0.0000304' },
  calls: { picos: 250_000_000_000n, text: '0.25' },
  turns: { picos: 1_000_000n, text: '0.000001' },
} as const

export type ChargedMeter = keyof typeof prices
export const chargedMeters = Object.keys(prices) as ChargedMeter[]

/** Units by meter. */
export type ChargedUnits = Readonly<Partial<Record<ChargedMeter, number>>>

export type ChargedCustomer = {
  /** The reference with which usage is sent and stored. */
  readonly customerRef: string
  readonly productRef: string
  readonly isPrepaid: boolean
}

/** Two products whose plans have five charges each. One is paid from wallets, the other one afterwards. */
export type ChargedProduct = {
  /** Names of the meters in this run. An event of the type `turns` counts on all others, a meter event also on `turns` itself. */
  readonly meterNames: Readonly<Record<ChargedMeter, string>>
  readonly productRefs: readonly string[]
  readonly customers: readonly ChargedCustomer[]
}

/** Caps and wallets are so large that no run reaches them. So the cost of usage depends on nothing but its units. */
const cap = 9_000_000_000
export const grantedCredits = 1_000_000_000

/** Creates the meters, the products and as many customers of each. */
export async function createChargedProduct(
  client: TollgateClient,
  run: string,
  customersOfEach: number,
): Promise<ChargedProduct> {
  const meterNames = await createMeters(client, run)
  const charges = (price: 'creditsPerUnit' | 'price') =>
    chargedMeters.map((key) => {
      return { key, meter: meterNames[key], cap, [price]: prices[key].text }
    })
  const plans = [
    { billingModel: 'pre-paid', charges: charges('creditsPerUnit') },
    { billingModel: 'post-paid', billingCycle: 'monthly', charges: charges('price') },
  ]
  const productRefs: string[] = []
  const customers: ChargedCustomer[] = []
  for (const terms of plans) {
    const isPrepaid = terms.billingModel === 'pre-paid'
    const name = `Charged ${terms.billingModel} ${run}`
    const { reference: productRef } = await client.createProduct({ name })
    const plan = { name: 'Rate card', type: 'usage-based', default: true, ...terms }
    const { reference: planRef } = await client.createPlan(productRef, plan)
    productRefs.push(productRef)
    for (let number = 0; number < customersOfEach; number += 1) {
      const externalRef = `charged_${run}_${terms.billingModel}_${number}`
      const email = `${externalRef}@measured.example`
      const { reference } = await client.createCustomer({ email, externalRef })
      await client.require('POST', '/v1/sdk/activate', {
        ...{ customerRef: reference, productRef, planRef },
      })
      if (isPrepaid) {
        const path = `/v1/sdk/customers/${reference}/credits`
        await client.require('POST', path, { credits: grantedCredits })
      }
      // Usage that a wallet pays for is stored under the customer's own reference, whichever is sent.
      const customerRef = isPrepaid ? reference : externalRef
      customers.push({ customerRef, productRef, isPrepaid })
    }
  }
  return { meterNames, productRefs, customers }
}

async function createMeters(
  client: TollgateClient,
  run: string,
): Promise<ChargedProduct['meterNames']> {
  const nameOf = (meter: ChargedMeter): string => `${meter}_${run}`
  const create = (meter: ChargedMeter, reads: object): Promise<unknown> =>
    client.require('POST', '/v1/ui/meters', { name: nameOf(meter), ...reads })
  await create('turns', { aggregation: 'sum' })
  const event = { type: nameOf('turns') }
  await create('calls', { aggregation: 'count', event })
  for (const meter of ['input', 'output', 'cached'] as const) {
    await create(meter, { aggregation: 'sum', event, value: `/usage/${meter}` })
  }
  return Object.fromEntries(
    chargedMeters.map((meter) => [meter, nameOf(meter)]),
  ) as ChargedProduct['meterNames']
}

const picosPerMicro = 1_000_000n

/** Returns what one event costs in 10^-6 credits, rounded once over all charges, half away from zero. */
export function costMicros(units: ChargedUnits): bigint {
  const picos = chargedMeters.reduce(
    (sum, meter) => sum + BigInt(units[meter] ?? 0) * prices[meter].picos,
    0n,
  )
  return (picos + picosPerMicro / 2n) / picosPerMicro
}
