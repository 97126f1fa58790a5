import { createCappedProduct, createCustomer } from '../../deploy/test/offers.ts'
import { startStack } from '../../deploy/test/stack.ts'
import { createPaywall, type Paywall, type PaywallOptions } from '../src/create-paywall.ts'
import { FaultyFront } from './faulty-front.ts'

/** A product with a limit, a customer who has it, and a paywall for it. */
export type SoldProduct = {
  readonly productRef: string
  readonly customer: string
  readonly paywall: Paywall
  /** Errors that the paywall has reported. */
  readonly errors: readonly Error[]
  /** Returns the remaining units of the customer after all records are delivered. */
  readonly left: () => Promise<number>
}

export type Shop = {
  readonly front: FaultyFront
  sell(cap: number, options?: Partial<PaywallOptions>): Promise<SoldProduct>
  send(path: string, body: object): Promise<unknown>
  /** Counts the stored calls of the customer with this outcome. */
  stored(customer: string, outcome: string): Promise<number>
  closePaywalls(): Promise<void>
  stop(): Promise<void>
}

/** Starts Tollgate with one provider. */
export async function openShop(): Promise<Shop> {
  const stack = await startStack()
  const provider = await stack.createProvider()
  const client = provider.sandbox
  const front = await FaultyFront.start(stack.baseUrl)
  const meter = await client.requestsMeter()
  const paywalls: Paywall[] = []
  return {
    front,
    async sell(cap, options) {
      const productRef = await createCappedProduct(client, cap)
      const customer = await createCustomer(client)
      const errors: Error[] = []
      const paywall = createPaywall({
        secretKey: provider.keys.sandbox,
        productRef,
        baseUrl: stack.baseUrl,
        // A long timeout, because counters may be late on a busy machine.
        timeoutMs: 20_000,
        onError: (error) => errors.push(error),
        ...options,
      })
      paywalls.push(paywall)
      const left = async (): Promise<number> => {
        await paywall.flush()
        return (await client.checkLimit(customer, productRef)).remaining
      }
      return { productRef, customer, paywall, errors, left }
    },
    send: (path, body) => client.require('POST', path, body),
    async stored(customerRef, outcome) {
      const day = (offset: number): string =>
        new Date(Date.now() + offset * 86_400_000).toISOString()
      const query = { from: day(-1), to: day(1), customerRef, outcome }
      return (await client.meterUsage(meter, query)).count
    },
    async closePaywalls() {
      front.fault = undefined
      for (const paywall of paywalls.splice(0)) await paywall.close()
    },
    async stop() {
      await front.stop()
      await stack.stop()
    },
  }
}
