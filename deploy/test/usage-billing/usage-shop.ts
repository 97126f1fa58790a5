import type { ChargeOutcome, InvoiceCharge } from '@tollgate/domain/charging/charge-invoice'
import { lockInvoice } from '@tollgate/domain/invoices/repository'
import { payInvoice } from '@tollgate/domain/invoices/settle-invoice'
import { changeMerchant } from '@tollgate/domain/merchants/repository'
import { createMeter } from '@tollgate/domain/meters/create-meter'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { RunnerStack, Shop } from '../../../billing-runner/test/runner-stack.ts'
import { startUsageBillingStack, type UsageBillingStack } from './usage-billing-stack.ts'

/** 100 units are free, further units cost 1 cent each. */
export const postPaid = {
  type: 'usage-based',
  billingModel: 'post-paid',
  billingCycle: 'monthly',
  creditsPerUnit: 100,
  freeUnits: 100,
  limit: 10_000,
} as const

/** 49 dollars and 1 cent per unit. */
export const hybrid = {
  type: 'hybrid',
  basePrice: 4_900,
  billingCycle: 'monthly',
  creditsPerUnit: 100,
} as const

/** Opens a separate shop for each test, on 31 January at noon, with customers whose cards work. */
export class UsageShop {
  #stack: UsageBillingStack | undefined
  #shop: Shop | undefined
  /** The attempted charges. */
  asked: InvoiceCharge[] = []

  constructor() {
    beforeAll(async () => {
      this.#stack = await startUsageBillingStack()
    })
    afterAll(() => this.stack.stop())
    beforeEach(async () => {
      this.runner.clock.set('2026-01-31T12:00:00Z')
      this.#shop = await this.runner.openShop()
      this.asked = []
      return async () => {
        const sql = this.runner.database.in('sandbox')
        await sql`update purchases set next_usage_bill_at = null, usage_closes_at = null, carry_settles_at = null`
        await sql`update purchases set status = 'expired'`
        await sql`update invoices set next_charge_at = null`
      }
    })
  }

  get stack(): UsageBillingStack {
    return this.#stack!
  }

  get runner(): RunnerStack {
    return this.stack.runner
  }

  get shop(): Shop {
    return this.#shop!
  }

  readonly paying = async (charge: InvoiceCharge): Promise<ChargeOutcome> => {
    this.asked.push(charge)
    await this.runner.within(this.shop, async (work) => {
      const invoice = await lockInvoice(work.sql, work.providerId, charge.invoiceRef)
      const chargeRef = `ch_${charge.invoiceRef}`
      await payInvoice(work, invoice!, { chargeRef, amountMinor: charge.amountMinor })
    })
    return { kind: 'paid' }
  }

  readonly withDecliningCard = async (charge: InvoiceCharge): Promise<ChargeOutcome> => {
    this.asked.push(charge)
    return { kind: 'declined', isFinal: false, failure: charge.invoiceRef }
  }

  /** Sets whether periods that cost nothing get an invoice. Null is the default: they get none. */
  issueZeroInvoices(issueZeroInvoices: boolean | null): Promise<void> {
    return this.runner.within(this.shop, ({ sql, providerId, now }) =>
      changeMerchant(sql, providerId, { issueZeroInvoices }, now),
    )
  }

  async buy(input: Partial<PlanCreateInput>, change: Partial<Purchase> = {}): Promise<Purchase> {
    return this.runner.buy(this.shop, await this.runner.addPlan(this.shop, input), change)
  }

  /** Records usage at the time at which it occurs. */
  async use(
    purchase: Pick<Purchase, 'customerRef'>,
    units: number,
    at: string,
    meterName?: string,
  ): Promise<void> {
    this.runner.clock.set(at)
    await this.useLate(purchase, units, at, meterName)
  }

  async useLate(
    { customerRef }: Pick<Purchase, 'customerRef'>,
    units: number,
    at: string,
    meterName = 'requests',
  ) {
    const micros = BigInt(Math.round(units * 1_000_000))
    await this.stack.record(this.shop, [{ customerRef, micros, at: new Date(at), meterName }])
  }

  /** Creates meters with these dimensions by name. Those with dimensions read events; the tests record what they count. */
  addMeters(meters: Readonly<Record<string, readonly string[]>>): Promise<void> {
    return this.runner.within(this.shop, async (work) => {
      for (const [name, dimensions] of Object.entries(meters)) {
        const aggregation = 'sum' as const
        await createMeter(work, {
          name,
          displayName: name,
          description: null,
          aggregation,
          unit: name,
          reading:
            dimensions.length === 0
              ? null
              : { aggregation, type: name, where: {}, value: [], dimensions },
        })
      }
    })
  }

  bill(at: string, charge = this.paying) {
    return this.runner.runJob('usage-billing', at, charge, { TOLLGATE_BILLING_TRIES_MAX: '1' })
  }

  renew(at: string) {
    return this.runner.runJob('renewals', at, this.paying)
  }

  invoicesOf({ reference }: Purchase) {
    return this.stack.invoicesOf(this.shop, reference)
  }

  now({ reference }: Purchase): Promise<Purchase> {
    return this.runner.purchase(this.shop, reference)
  }
}
