import { expect } from 'vitest'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import { startMeteredStack } from './metered-stack.ts'
import { eventually } from './payment-stack.ts'

/** Starts a shop that sells a monthly plan with 100 units, and packs beside it. */
export async function startPackShop() {
  const metered = await startMeteredStack()
  const { shop } = metered
  const { payments } = shop
  const { productRef } = payments
  const { clock } = payments.stack
  const pack = (units: number, more: object = {}) =>
    payments.createPlan({ type: 'one-time', price: 500, pack: { units }, ...more })

  /** The clock stands still otherwise, and nothing would come before or after. */
  const waitAMinute = (): void => clock.set(new Date(clock.now() + 60_000).toISOString())

  return {
    metered,
    plan: await payments.createPlan({ price: 1_900, billingCycle: 'monthly', limit: 100 }),
    pack,
    fifty: await pack(50),
    waitAMinute,

    /** Ends all purchases and what is due of them, and sets the clock back to 1 June 2026. */
    async begin(): Promise<void> {
      clock.set('2026-06-01T00:00:00Z')
      await shop.endAll()
      await shop.sql`update purchases set next_usage_bill_at = null, usage_closes_at = null`
      await shop.sql`update pack_accounts set due_at = null`
    },

    check: async ({ customerRef }: Pick<Purchase, 'customerRef'>): Promise<LimitsResponse> => {
      const request = { customerRef, productRef }
      return (await payments.call<LimitsResponse>('POST', '/v1/sdk/limits', request)).body
    },

    buyPack: ({ customerRef }: Purchase, planRef: string): Promise<void> => {
      waitAMinute()
      return shop.pay(customerRef, planRef, 'pm_card_visa')
    },

    settle: (iso: string) =>
      shop.runJob('pack-settlement', iso, {
        ...metered.runnerSettings,
        TOLLGATE_BILLING_TRIES_MAX: '1',
      }),

    /** Refunds the last payment of a pack, and waits until its units are taken back. */
    refund: async (
      { customerRef }: Purchase,
      planRef: string,
      amountMinor?: number,
    ): Promise<void> => {
      const [paid] = await shop.sql<{ id: string }[]>`
        select processor_payment_id as id from payment_intents
        where customer_ref = ${customerRef} and plan_ref = ${planRef}
        order by created_at desc limit 1`
      waitAMinute()
      const amount = amountMinor === undefined ? {} : { amount: String(amountMinor) }
      const countClaims = async (): Promise<number> => {
        const [claims] = await shop.sql<[{ n: number }]>`select count(*)::int as n from pack_claims`
        return claims.n
      }
      const before = await countClaims()
      await payments.stripe('POST', 'refunds', { payment_intent: paid!.id, ...amount })
      await eventually(async () => expect(await countClaims()).toBe(before + 1))
    },
  }
}
