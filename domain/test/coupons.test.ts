import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import type { Coupon, CouponTerms } from '../src/coupons/coupon.ts'
import {
  listDiscountsFor,
  listPeriodDiscounts,
  removeDiscount,
} from '../src/coupons/discounts-repository.ts'
import { archiveCoupon, createCoupon } from '../src/coupons/manage-coupons.ts'
import {
  insertHold,
  lockRedeemable,
  redeemCoupon,
  sweepHolds,
  type Redemption,
} from '../src/coupons/redeem-coupon.ts'
import { addDiscount } from '../src/invoice-decisions/add-discount.ts'
import { createDraft } from '../src/invoices/create-draft.ts'
import { issueInvoice } from '../src/invoices/issue-invoice.ts'
import type { InvoiceWithLines } from '../src/invoices/invoice.ts'
import { recomputeInvoice } from '../src/invoices/recompute-invoice.ts'
import { listUnbalancedInvoices } from '../src/money-ledger/unbalanced.ts'
import { insertIntent, lockIntent, updateIntent } from '../src/payments/intents-repository.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { snapshotOf } from '../src/plans/plan-snapshot.ts'
import { generateReference } from '../src/unit-of-work/generate-reference.ts'
import { billedAt, createPurchases, inWork, type BilledCustomer } from './billed-customers.ts'
import { invoiceLine } from '../src/pricing/invoice-line.ts'
import { month, parties, price } from './invoicing.ts'
import { createTestIntent } from './test-intent.ts'
import { createTestPlan } from './test-plan.ts'

/* On a real PostgreSQL: redemptions and their limits, and the discounts of invoices. */

let testDatabase: TestDatabase
let database: Database
let providers = 0
let providerId: string
let customers: BilledCustomer[]

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
})
afterAll(() => testDatabase.stop())
beforeEach(startProvider)

async function startProvider(): Promise<void> {
  providerId = `prv_coupons_${providers++}`
  customers = await createPurchases(database, providerId, 12)
  months = 0
}

const terms: CouponTerms = {
  code: null,
  name: 'Launch',
  percentOff: '20',
  amountOffMinor: null,
  currency: null,
  duration: 'forever',
  durationInvoices: null,
  productRefs: [],
  planRefs: [],
  redemptionsMax: null,
  redemptionsPerCustomerMax: null,
  redeemBy: null,
}

async function makeCoupon(changed: Partial<CouponTerms> = {}): Promise<Coupon> {
  const made = await inWork(database, providerId, (work) =>
    createCoupon(work, { ...terms, ...changed }),
  )
  return made!
}

type Target = Omit<Redemption, 'couponRef'>

async function redeem(coupon: Coupon, of: Target, now = billedAt): Promise<string> {
  const redemption = { couponRef: coupon.reference, ...of }
  const outcome = await inWork(
    database,
    providerId,
    (work) => redeemCoupon(work, redemption, generateReference('discount')),
    now,
  )
  return outcome.kind === 'refused' ? outcome.fault : outcome.kind
}

const plan = snapshotOf(createTestPlan({ reference: 'pln_A', priceMinor: 1_000 }))
let months = 0

/** Issues the next invoice of the purchase over one price. */
function bill(of: BilledCustomer, amountMinor: number): Promise<InvoiceWithLines> {
  const claims = [{ part: 'recurring', period: month((months += 1)) }] as const
  return inWork(database, providerId, async (work) => {
    const request = { ...of, planSnapshot: plan, currency: 'USD', lines: [price(amountMinor)] }
    const made = await createDraft(work, { ...request, claims, discountedProductRef: 'prd_A' })
    if (made.kind !== 'created') throw new Error('billed twice')
    return issueInvoice(work, made.invoice, parties)
  })
}

const wholeOf = ({ customerRef }: BilledCustomer): Target => ({ customerRef, purchaseRef: null })

test('of concurrent redemptions exactly as many succeed as the limit allows', async () => {
  const coupon = await makeCoupon({ redemptionsMax: 5 })
  const outcomes = await Promise.all(customers.map((each) => redeem(coupon, wholeOf(each))))
  expect(outcomes.filter((each) => each === 'redeemed')).toHaveLength(5)
  expect(new Set(outcomes)).toEqual(new Set(['redeemed', 'used_up']))
})

test('a customer does not redeem a coupon again after its discount has ended', async () => {
  const coupon = await makeCoupon({
    ...{ duration: 'once', durationInvoices: 1 },
    redemptionsPerCustomerMax: 1,
  })
  const [first, second] = customers as [BilledCustomer, BilledCustomer]
  expect(await redeem(coupon, first)).toBe('redeemed')
  expect((await bill(first, 1_000)).totalMinor).toBe(800n)
  expect((await bill(first, 1_000)).totalMinor).toBe(1_000n)
  // Cancelled and bought again: another purchase of the same customer.
  expect(await redeem(coupon, { ...first, purchaseRef: second.purchaseRef })).toBe(
    'used_by_customer',
  )
  expect(await redeem(coupon, second)).toBe('redeemed')
})

test('refuses an archived or expired coupon, and a second discount by it', async () => {
  const [first] = customers as [BilledCustomer]
  const coupon = await makeCoupon({ redeemBy: billedAt })
  expect(await redeem(coupon, wholeOf(first), new Date(billedAt.getTime() + 1))).toBe('expired')
  expect(await redeem(coupon, wholeOf(first))).toBe('redeemed')
  expect(await redeem(coupon, first)).toBe('applied')
})

test('a coupon is not redeemed for a purchase while the one that it replaces has its discount', async () => {
  const [first, second] = customers as [BilledCustomer, BilledCustomer]
  const coupon = await makeCoupon()
  expect(await redeem(coupon, first)).toBe('redeemed')
  const next = { ...first, purchaseRef: second.purchaseRef }
  expect(await redeem(coupon, { ...next, replacedRef: first.purchaseRef })).toBe('applied')
  expect(await redeem(coupon, next)).toBe('redeemed')
})

test('a payment redeems a coupon that has ended since it was created, but not one that had ended', async () => {
  const [first, second] = customers as [BilledCustomer, BilledCustomer]
  const at = (ms: number): Date => new Date(billedAt.getTime() + ms)
  const { reference } = await makeCoupon({ redeemBy: at(10) })
  await inWork(database, providerId, (work) => archiveCoupon(work, reference), at(20))
  const redeemHeld = ({ customerRef }: BilledCustomer, heldSince: Date | undefined) =>
    inWork(
      database,
      providerId,
      (work) => {
        const redemption = { couponRef: reference, customerRef, purchaseRef: null }
        return redeemCoupon(work, redemption, generateReference('discount'), { heldSince })
      },
      at(30),
    )
  expect(await redeemHeld(first, undefined)).toMatchObject({ fault: 'archived' })
  expect(await redeemHeld(first, at(20))).toMatchObject({ fault: 'archived' })
  expect(await redeemHeld(first, at(11))).toMatchObject({ fault: 'expired' })
  expect((await redeemHeld(first, at(10))).kind).toBe('redeemed')
  expect((await redeemHeld(second, at(9))).kind).toBe('redeemed')
})

test('a payment holds a redemption until it ends, and no longer than it can be paid', async () => {
  const coupon = await makeCoupon({ redemptionsMax: 1 })
  const [payer, other] = customers as [BilledCustomer, BilledCustomer]
  const couponRef = coupon.reference
  const expiresAt = new Date(billedAt.getTime() + 86_400_000)
  const intent = createTestIntent(
    {
      ...{ reference: generateReference('transaction'), purpose: 'product', currency: 'USD' },
      ...{ customerRef: payer.customerRef, amountMinor: 800n, originalAmountMinor: 800n },
    },
    billedAt,
  )
  await inWork(database, providerId, async (work) => {
    await insertIntent(work.sql, providerId, intent)
    expect(await lockRedeemable(work, { ...wholeOf(payer), couponRef })).toBeUndefined()
    await insertHold(work, { ...wholeOf(payer), couponRef }, { ...intent, expiresAt })
  })
  expect(await redeem(coupon, wholeOf(other))).toBe('used_up')
  const later = new Date(expiresAt.getTime() + 1)
  const faultOf = (of: BilledCustomer, now: Date) =>
    inWork(database, providerId, (work) => lockRedeemable(work, { ...wholeOf(of), couponRef }), now)
  expect(await faultOf(other, later)).toBeUndefined()
  expect(await faultOf(payer, billedAt)).toBeUndefined()
  const sweep = () => inWork(database, providerId, ({ sql }) => sweepHolds(sql, 10))
  expect(await sweep()).toBe(0)
  await inWork(database, providerId, async ({ sql }) => {
    const locked = await lockIntent(sql, providerId, intent.reference)
    await updateIntent(sql, providerId, { ...locked!, status: 'canceled' })
  })
  expect(await sweep()).toBe(1)
  expect(await redeem(coupon, wholeOf(other))).toBe('redeemed')
})

test('a discount of an ended purchase does not apply to another one', async () => {
  const [first, second] = customers as [BilledCustomer, BilledCustomer]
  const coupon = await makeCoupon()
  const given = { ...first, couponRef: coupon.reference }
  const add = (of: typeof given) => inWork(database, providerId, (work) => addDiscount(work, of))
  // The purchases of this test have no plan, and those of another customer are refused like unknown ones.
  expect((await add({ ...given, purchaseRef: second.purchaseRef })).kind).toBe('purchase-not-found')
  expect(await redeem(coupon, first)).toBe('redeemed')
  const { customerRef } = first
  const sale = { customerRef, productRef: 'prd_A', planRef: 'pln_A', currency: 'USD' }
  const found = (purchaseRef: string) =>
    inWork(database, providerId, ({ sql }) =>
      listDiscountsFor(sql, providerId, { ...sale, purchaseRef }),
    )
  expect(await found(first.purchaseRef)).toHaveLength(1)
  expect(await found(second.purchaseRef)).toHaveLength(0)
  const sql = database.in('sandbox')
  await sql`
    update purchases set replaces = ${second.purchaseRef}, customer_ref = ${customerRef}
    where reference = ${first.purchaseRef}`
  const endSecond = (endedAt: Date) =>
    sql`update purchases set ended_at = ${endedAt} where reference = ${second.purchaseRef}`
  // It moved from the purchase before, and so its last bill has it too.
  await endSecond(new Date(billedAt.getTime() + 1))
  expect(await found(second.purchaseRef)).toHaveLength(1)
  // It was redeemed for the purchase that began, so earlier usage is not discounted.
  await endSecond(billedAt)
  expect(await found(second.purchaseRef)).toHaveLength(0)
})

test('scopes and currencies decide which invoices are discounted', async () => {
  const [first] = customers as [BilledCustomer]
  const off = { percentOff: null, amountOffMinor: 300n }
  await redeem(await makeCoupon({ planRefs: ['pln_B'] }), wholeOf(first))
  await redeem(await makeCoupon({ productRefs: ['prd_B'] }), wholeOf(first))
  await redeem(await makeCoupon({ ...off, currency: 'EUR' }), wholeOf(first))
  expect((await bill(first, 1_000)).totalMinor).toBe(1_000n)
  await redeem(await makeCoupon({ ...off, currency: 'USD', planRefs: ['pln_A'] }), wholeOf(first))
  const invoice = await bill(first, 1_000)
  expect(invoice.totalMinor).toBe(700n)
  expect(recomputeInvoice(invoice)).toEqual([])
  const stored = await inWork(database, providerId, ({ sql }) =>
    listPeriodDiscounts(sql, providerId, first.purchaseRef),
  )
  expect(stored.map(({ amountMinor }) => amountMinor)).toEqual([300n])
})

test('usage that is credited in turn with late usage gives back what was paid of it', async () => {
  const [first] = customers as [BilledCustomer]
  const once = { duration: 'once', durationInvoices: 1 } as const
  await redeem(await makeCoupon(once), first)
  // A line of usage over the amount, which is a credit if the amount is negative.
  const billUsage = async (amountMinor: number): Promise<bigint> => {
    const inputs = {
      ...({ kind: 'minimum', secondsCharged: 1, secondsInPeriod: 1, countedMinor: '0' } as const),
      ...{
        minimumMinor: `${Math.max(amountMinor, 0)}`,
        billedMinor: `${-Math.min(amountMinor, 0)}`,
      },
    }
    const lines = [invoiceLine(inputs, 'Usage', month(1))]
    const request = { ...first, planSnapshot: plan, currency: 'USD', lines, claims: [] }
    const made = await inWork(database, providerId, async (work) => {
      const draft = await createDraft(work, { ...request, discountedProductRef: 'prd_A' })
      if (draft.kind !== 'created') throw new Error('billed twice')
      return issueInvoice(work, draft.invoice, parties)
    })
    return made.totalMinor - carriedIn(made)
  }
  expect(await billUsage(1_000)).toBe(800n)
  expect(await billUsage(-500)).toBe(-400n)
  expect(await billUsage(-500)).toBe(-400n)
  expect(await billUsage(300)).toBe(300n)
  expect(await billUsage(-300)).toBe(-300n)
})

type Act =
  | { readonly kind: 'redeem'; readonly coupon: number; readonly whole: boolean }
  | { readonly kind: 'bill'; readonly amount: number }
  | { readonly kind: 'remove' }

const act: fc.Arbitrary<Act & { readonly of: number }> = fc.record({ of: fc.nat(2) }).chain((by) =>
  fc
    .oneof(
      fc.record({ kind: fc.constant('redeem' as const), coupon: fc.nat(3), whole: fc.boolean() }),
      fc.record({
        kind: fc.constant('bill' as const),
        amount: fc.integer({ min: 1, max: 9_999 }),
      }),
      fc.record({ kind: fc.constant('remove' as const) }),
    )
    .map((each) => ({ ...each, ...by })),
)

const drawnTerms = fc.record({
  off: fc.oneof(
    fc.integer({ min: 1, max: 10_000 }).map((each) => ({ hundredths: each })),
    fc.integer({ min: 1, max: 5_000 }).map((each) => ({ minor: each })),
  ),
  invoices: fc.option(fc.integer({ min: 1, max: 3 })),
  max: fc.option(fc.integer({ min: 1, max: 3 })),
  perCustomer: fc.option(fc.integer({ min: 1, max: 2 })),
})
type DrawnTerms = (typeof drawnTerms extends fc.Arbitrary<infer Drawn> ? Drawn : never) & object

test('random redemptions, invoices and removals follow a model, and no limit is ever exceeded', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(drawnTerms, { minLength: 4, maxLength: 4 }),
      fc.array(act, { minLength: 5, maxLength: 30 }),
      async (drawn, acts) => {
        await startProvider()
        const coupons: Coupon[] = []
        for (const each of drawn) coupons.push(await makeCoupon(termsOf(each)))
        type Held = { of: number; coupon: number; whole: boolean; left: number; order: number }
        const held: Held[] = []
        const redeemed = drawn.map(() => [0, 0, 0])
        let order = 0
        for (const step of acts) {
          const customer = customers[step.of]!
          const running = held.filter((each) => each.of === step.of && each.left > 0)
          if (step.kind === 'redeem') {
            const { max, perCustomer, invoices } = drawn[step.coupon]!
            const counts = redeemed[step.coupon]!
            const isApplied = running.some(
              (each) => each.coupon === step.coupon && (each.whole || !step.whole),
            )
            const isRefused =
              isApplied ||
              (perCustomer !== null && counts[step.of]! >= perCustomer) ||
              (max !== null && counts.reduce((sum, each) => sum + each, 0) >= max)
            const target = step.whole ? wholeOf(customer) : customer
            const now = new Date(billedAt.getTime() + (order += 1))
            const outcome = await redeem(coupons[step.coupon]!, target, now)
            expect(outcome === 'redeemed').toBe(!isRefused)
            if (isRefused) continue
            counts[step.of]! += 1
            const left = invoices ?? Infinity
            held.push({ ...{ of: step.of, coupon: step.coupon, whole: step.whole }, left, order })
          } else if (step.kind === 'bill') {
            let expected = step.amount
            for (const each of running) {
              const { off } = drawn[each.coupon]!
              const taken =
                'minor' in off
                  ? Math.min(expected, off.minor)
                  : Math.floor((expected * off.hundredths * 2 + 10_000) / 20_000)
              if (taken > 0) each.left -= 1
              expected -= taken
            }
            const invoice = await bill(customer, step.amount)
            expect(Number(invoice.totalMinor - carriedIn(invoice))).toBe(expected)
            expect(recomputeInvoice(invoice)).toEqual([])
          } else {
            const [first] = running
            const reference = await inWork(database, providerId, async ({ sql }) => {
              const sale = { productRef: 'prd_A', planRef: 'pln_A', currency: 'USD' }
              const all = await listDiscountsFor(sql, providerId, { ...customer, ...sale })
              return all[0]?.reference
            })
            expect(reference === undefined).toBe(first === undefined)
            if (reference === undefined || first === undefined) continue
            const discount = { customerRef: customer.customerRef, reference }
            await inWork(database, providerId, ({ sql, now }) =>
              removeDiscount(sql, providerId, discount, now),
            )
            first.left = 0
          }
        }
        const sql = database.in('sandbox')
        expect(await listUnbalancedInvoices(sql, 10)).toEqual([])
      },
    ),
    randomRuns(25),
  )
})

function carriedIn({ lines }: InvoiceWithLines): bigint {
  return lines.reduce(
    (sum, { inputs, amountMinor }) => (inputs.kind === 'carried_in' ? sum + amountMinor : sum),
    0n,
  )
}

function termsOf({ off, invoices, max, perCustomer }: DrawnTerms): Partial<CouponTerms> {
  const amount =
    'minor' in off
      ? { percentOff: null, amountOffMinor: BigInt(off.minor), currency: 'USD' }
      : { percentOff: String(off.hundredths / 100) }
  return {
    ...amount,
    duration: invoices === null ? 'forever' : invoices === 1 ? 'once' : 'repeating',
    durationInvoices: invoices,
    redemptionsMax: max,
    redemptionsPerCustomerMax: perCustomer,
  }
}
