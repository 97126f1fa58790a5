import type { ChargeOutcome, InvoiceCharge } from '@tollgate/domain/charging/charge-invoice'
import { noteCrossing } from '@tollgate/domain/billing/crossings-repository'
import { createCoupon } from '@tollgate/domain/coupons/manage-coupons'
import { addDiscount } from '@tollgate/domain/invoice-decisions/add-discount'
import { lockInvoice } from '@tollgate/domain/invoices/repository'
import { payInvoice } from '@tollgate/domain/invoices/settle-invoice'
import { endNow } from '@tollgate/domain/purchases/move-purchase'
import { lockPurchase } from '@tollgate/domain/purchases/repository'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { Shop } from '../../../billing-runner/test/runner-stack.ts'
import { startUsageBillingStack } from './usage-billing-stack.ts'

/*
 * Random usage of any lateness, bills within periods, coupons and ends of plans with a minimum. The bills of each period add up to its
 * usage or the minimum, whichever is more, and no story gives back more than it took.
 */

const runs = randomRuns(8, process.env['TOLLGATE_TEST_USAGE_BILLS'])
const dayMs = 86_400_000
const begin = Date.parse('2026-02-01T00:00:00Z')
const minimumMinor = 2_000

const stack = await startUsageBillingStack()
afterAll(() => stack.stop())

type Step =
  | { readonly kind: 'use'; readonly units: number; readonly lateMs: number }
  | { readonly kind: 'run' | 'threshold' | 'end' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant('use' as const),
      units: fc.nat(1_500),
      lateMs: fc.oneof(fc.constant(0), fc.nat(20 * dayMs)),
    }),
    weight: 5,
  },
  { arbitrary: fc.constant<Step>({ kind: 'run' }), weight: 3 },
  { arbitrary: fc.constant<Step>({ kind: 'threshold' }), weight: 1 },
  { arbitrary: fc.constant<Step>({ kind: 'end' }), weight: 1 },
)

const stories = fc.record({
  steps: fc.array(fc.tuple(fc.nat(15 * dayMs), step), { minLength: 3, maxLength: 12 }),
  billsAtMinor: fc.constantFrom(0, 700),
  percentOff: fc.constantFrom(null, '25', '100'),
})
type Story = typeof stories extends fc.Arbitrary<infer Drawn> ? Drawn : never

test(
  `${runs.numRuns} random stories charge each period its usage or the minimum`,
  { timeout: 0 },
  async () => {
    await fc.assert(fc.asyncProperty(stories, play), { ...runs, endOnFailure: true })
  },
)

async function play({ steps, billsAtMinor, percentOff }: Story): Promise<void> {
  const sql = stack.runner.database.in('sandbox')
  await sql`
    update purchases set next_usage_bill_at = null, usage_closes_at = null, status = 'expired'`
  await sql`delete from threshold_crossings`
  let now = begin
  const setClock = (): void => stack.runner.clock.set(new Date(now).toISOString())
  setClock()
  const shop = await stack.runner.openShop()
  const plan = await stack.runner.addPlan(shop, {
    ...{ name: 'As you go', type: 'usage-based', billingModel: 'post-paid', price: 0 },
    ...{ billingCycle: 'monthly', creditsPerUnit: 100, minimumCommitment: minimumMinor },
    ...(billsAtMinor === 0 ? {} : { billAtUnbilledMinor: billsAtMinor }),
  })
  const { reference, customerRef } = await stack.runner.buy(shop, plan)
  if (percentOff !== null) await discount(shop, customerRef, percentOff)
  const records: { atMs: number; units: number }[] = []
  let endedAt: number | undefined
  for (const [waitMs, each] of steps) {
    now += waitMs
    setClock()
    if (each.kind === 'run') await runJobs(shop, now)
    else if (each.kind === 'threshold') {
      await stack.runner.within(shop, (work) =>
        noteCrossing(work.sql, work.providerId, reference, work.now),
      )
      await runJobs(shop, now, ['threshold-billing'])
    } else if (each.kind === 'end' && endedAt === undefined && now >= begin + 1_000) {
      // Ends are whole seconds, and a purchase that ends as it begins has no period to bill.
      endedAt = Math.floor(now / 1_000) * 1_000
      const end = new Date(endedAt)
      await stack.runner.within(shop, async (work) => {
        const purchase = await lockPurchase(work.sql, work.providerId, reference)
        await endNow(work, purchase!, 'cancelled', { endedAt: end })
      })
    } else if (each.kind === 'use') {
      const atMs = now - each.lateMs
      if (atMs < begin || (endedAt !== undefined && atMs >= endedAt)) continue
      const micros = BigInt(each.units) * 1_000_000n
      await stack.record(shop, [{ customerRef, micros, at: new Date(atMs) }])
      records.push({ atMs, units: each.units })
    }
  }
  // Everything that ended until now is billed, and looked at again for late usage.
  for (let times = 0; times < 3; times += 1) {
    now += 20 * dayMs
    setClock()
    await runJobs(shop, now)
  }
  await expectPeriods(reference, records, endedAt)
}

/** Compares what the lines of each billed period charge with the model. */
async function expectPeriods(
  purchaseRef: string,
  records: readonly { readonly atMs: number; readonly units: number }[],
  endedAt: number | undefined,
): Promise<void> {
  const sql = stack.runner.database.in('sandbox')
  const billed = await sql<{ start: Date; period_end: Date; charged: string }[]>`
    select billed_periods.period_start as start, billed_periods.period_end, (
      select sum(amount)::text from invoices join invoice_lines
        on invoice_lines.provider_id = invoices.provider_id and invoice_ref = invoices.reference
      where invoices.purchase_ref = ${purchaseRef} and kind in ('usage', 'late_usage', 'minimum')
        and invoice_lines.period_start = billed_periods.period_start) as charged
    from billed_periods where purchase_ref = ${purchaseRef} and part = 'usage'
    order by billed_periods.period_start`
  expect(billed.length).toBeGreaterThan(0)
  for (const { start, charged } of billed) {
    const whole = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1)
    const end = endedAt !== undefined && endedAt < whole ? endedAt : whole
    const units = records
      .filter(({ atMs }) => atMs >= start.getTime() && atMs < end)
      .reduce((sum, each) => sum + each.units, 0)
    const share = (end - start.getTime()) / (whole - start.getTime())
    // A bill within a running period charges usage alone.
    if (end > stack.runner.clock.now()) continue
    expect(Number(charged), start.toISOString()).toBe(
      Math.max(units, Math.round(minimumMinor * share)),
    )
  }
  const invoices = await sql<{ total: string; reference: string }[]>`
    select total, reference from invoices where purchase_ref = ${purchaseRef}`
  const sum = invoices.reduce((all, { total }) => all + Number(total), 0)
  expect(sum).toBeGreaterThanOrEqual(0)
}

async function discount(shop: Shop, customerRef: string, percentOff: string): Promise<void> {
  await stack.runner.within(shop, async (work) => {
    const coupon = await createCoupon(work, {
      ...{ code: null, name: 'Launch', percentOff, amountOffMinor: null, currency: null },
      ...{ duration: 'repeating', durationInvoices: 2, productRefs: [], planRefs: [] },
      ...{ redemptionsMax: null, redemptionsPerCustomerMax: null, redeemBy: null },
    })
    await addDiscount(work, { couponRef: coupon!.reference, customerRef, purchaseRef: null })
  })
}

async function runJobs(
  shop: Shop,
  atMs: number,
  jobs: readonly string[] = ['renewals', 'usage-billing'],
): Promise<void> {
  const pay = async (charge: InvoiceCharge): Promise<ChargeOutcome> => {
    await stack.runner.within(shop, async (work) => {
      const invoice = await lockInvoice(work.sql, work.providerId, charge.invoiceRef)
      const chargeRef = `ch_${charge.invoiceRef}`
      await payInvoice(work, invoice!, { chargeRef, amountMinor: charge.amountMinor })
    })
    return { kind: 'paid' }
  }
  const at = new Date(atMs).toISOString()
  // A period that ends in several bills needs as many runs.
  for (let times = 0; times < 3; times += 1) {
    for (const job of jobs) {
      await stack.runner.runJob(job, at, pay, { TOLLGATE_BILLING_TRIES_MAX: '1' })
    }
  }
}
