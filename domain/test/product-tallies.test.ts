import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import type { DisputeStatus } from '../src/payments/decide-dispute.ts'
import { saveDispute } from '../src/payments/disputes-repository.ts'
import { insertIntent, lockIntent, updateIntent } from '../src/payments/intents-repository.ts'
import type { PaymentIntent } from '../src/payments/payment-intent.ts'
import { saveRefund, type RefundState } from '../src/payments/refunds-repository.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { foldProductMovements, listProductTallies } from '../src/catalog/tallies.ts'
import { Rational } from './pricing-oracle.ts'
import { billedAt, createPurchases, inWork } from './billed-customers.ts'
import { createTestIntent } from './test-intent.ts'

/*
 * Totals of products: random concurrent payments, refunds and disputes of several products, while other processes fold and
 * read the totals, compared with a model that uses fractions.
 */

let testDatabase: TestDatabase
let database: Database
let providers = 0

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
})
afterAll(() => testDatabase.stop())

const refundStates = ['pending', 'succeeded', 'failed'] as const
const disputeStates = [
  'warning_needs_response',
  'needs_response',
  'under_review',
  'won',
  'lost',
] as const

type Step =
  | {
      readonly to: 'refund'
      readonly which: number
      readonly percent: number
      readonly status: RefundState
    }
  | { readonly to: 'dispute'; readonly percent: number; readonly status: DisputeStatus }

type Paid = {
  readonly product: number | null
  /** US cents, and minor units of the charged amount. */
  readonly cents: number
  readonly original: number
  readonly becomes: 'succeeded' | 'failed' | 'undeliverable'
  readonly steps: readonly Step[]
}

const percent = fc.integer({ min: 1, max: 100 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    to: fc.constant('refund' as const),
    which: fc.integer({ min: 0, max: 2 }),
    percent,
    status: fc.constantFrom(...refundStates),
  }),
  fc.record({
    to: fc.constant('dispute' as const),
    percent,
    status: fc.constantFrom(...disputeStates),
  }),
)
const paid: fc.Arbitrary<Paid> = fc.record({
  product: fc.constantFrom(0, 1, 2, null),
  cents: fc.integer({ min: 1, max: 1_000_000 }),
  original: fc.integer({ min: 1, max: 150_000_000 }),
  becomes: fc.constantFrom('succeeded', 'succeeded', 'succeeded', 'failed', 'undeliverable'),
  steps: fc.array(step, { maxLength: 6 }),
})

/** Returns the amount of a refund or dispute, from its first step. */
function amountOf({ original, steps }: Paid, is: (step: Step) => boolean): number {
  const first = steps.find(is)!
  return Math.max(1, Math.floor((original * first.percent) / 100))
}

const isDispute = ({ to }: Step): boolean => to === 'dispute'
const isRefund = (which: number) => (each: Step) => each.to === 'refund' && each.which === which

/** Returns the rest of a payment after its steps. The last reported state of each refund and dispute counts. */
function leftOf(payment: Paid): bigint {
  const goneStates: readonly string[] = ['succeeded', 'needs_response', 'under_review', 'lost']
  let gone = 0
  for (const is of [isDispute, isRefund(0), isRefund(1), isRefund(2)]) {
    const last = payment.steps.findLast(is)
    if (last !== undefined && goneStates.includes(last.status)) gone += amountOf(payment, is)
  }
  const part = Rational.of(BigInt(payment.cents) * BigInt(gone), BigInt(payment.original))
  return BigInt(payment.cents) - part.nearest()
}

function productRefOf(providerId: string, product: number): string {
  return `prd_${providerId}_${product}`
}

function intentOf(providerId: string, customerRef: string, paid: Paid, at: number): PaymentIntent {
  const { product, cents, original } = paid
  return createTestIntent(
    {
      reference: `txn_${providerId}_${at}`,
      purpose: product === null ? 'credit_topup' : 'product',
      customerRef,
      productRef: product === null ? null : productRefOf(providerId, product),
      status: 'processing',
      amountMinor: BigInt(cents),
      originalAmountMinor: BigInt(original),
      currency: 'EUR',
      sellerName: null,
    },
    billedAt,
  )
}

/** Applies each step in its own transaction that locks the payment, like the code that applies events of the processor. */
async function live(providerId: string, intent: PaymentIntent, payment: Paid): Promise<void> {
  const { reference: intentRef, currency } = intent
  const within = (act: (sql: Parameters<typeof lockIntent>[0]) => Promise<void>) =>
    inWork(database, providerId, async ({ sql }) => {
      await lockIntent(sql, providerId, intentRef)
      await act(sql)
    })
  const status = payment.becomes === 'failed' ? 'failed' : 'succeeded'
  const failureReason = payment.becomes === 'succeeded' ? null : 'The customer was deleted'
  const ended = { ...intent, status, failureReason } as const
  await within((sql) => updateIntent(sql, providerId, ended))
  // A repeated report is counted once.
  await within((sql) => updateIntent(sql, providerId, { ...ended, settlementWanted: true }))
  for (const each of payment.steps) {
    const createdAt = billedAt
    if (each.to === 'refund') {
      const is = isRefund(each.which)
      const processorRefundId = `re_${intentRef}_${each.which}`
      const kept = { processorRefundId, intentRef, currency, status: each.status, createdAt }
      const amountMinor = BigInt(amountOf(payment, is))
      const amounts = { amountMinor, taxMinor: 0n, fromBalanceMinor: 0n }
      const reasons = { reason: null, failureReason: null }
      await within((sql) =>
        saveRefund(sql, providerId, { ...kept, ...amounts, ...reasons }, billedAt),
      )
      continue
    }
    const dispute = {
      kind: 'dispute',
      id: `dp_${intentRef}`,
      chargeId: 'ch_1',
      amountMinor: BigInt(amountOf(payment, isDispute)),
      currency,
      status: each.status,
      reason: 'fraudulent',
      movements: [],
      createdAt,
    } as unknown as Parameters<typeof saveDispute>[2]['dispute']
    const known = { intentRef, dispute, paymentMethodId: null, takesAccess: false }
    await within((sql) => saveDispute(sql, providerId, known, billedAt))
  }
}

const products = [0, 1, 2]

async function openShop(): Promise<string> {
  const providerId = `prv_tally_${providers++}`
  const made = products.map((product) => ({
    provider_id: providerId,
    reference: productRefOf(providerId, product),
    name: 'API',
    status: 'active',
    created_at: billedAt,
    updated_at: billedAt,
  }))
  await database.in('sandbox')`insert into products ${database.in('sandbox')(made)}`
  return providerId
}

function read(providerId: string) {
  const references = products.map((product) => productRefOf(providerId, product))
  return listProductTallies(database.in('sandbox'), providerId, references)
}

test('product totals are exact to the cent, however payments are folded', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(paid, { minLength: 1, maxLength: 12 }), async (payments) => {
      const providerId = await openShop()
      const [customer] = await createPurchases(database, providerId, 1)
      const intents = payments.map((each, at) =>
        intentOf(providerId, customer!.customerRef, each, at),
      )
      await inWork(database, providerId, async ({ sql }) => {
        for (const intent of intents) await insertIntent(sql, providerId, intent)
      })
      let isOver = false
      const folding = [1, 2].map(async () => {
        while (!isOver) await foldProductMovements(database.in('sandbox'), 3)
      })
      await Promise.all(intents.map((intent, at) => live(providerId, intent, payments[at]!)))
      const before = await read(providerId)
      isOver = true
      await Promise.all(folding)
      while ((await foldProductMovements(database.in('sandbox'), 5)) > 0);
      const after = await read(providerId)
      const expected = new Map(
        products.flatMap((product) => {
          const counted = payments.filter(
            (each) => each.product === product && each.becomes === 'succeeded',
          )
          if (counted.length === 0) return []
          const left = counted.reduce((sum, each) => sum + leftOf(each), 0n)
          const tally = { balanceMinor: Number(left), totalTransactions: counted.length }
          return [[productRefOf(providerId, product), tally] as const]
        }),
      )
      expect(before).toEqual(expected)
      expect(after).toEqual(expected)
    }),
    { ...randomRuns(60), interruptAfterTimeLimit: 120_000, markInterruptAsFailure: false },
  )
}, 300_000)

test('product totals count each payment once while payments are folded', async () => {
  const providerId = await openShop()
  const sql = database.in('sandbox')
  const add = sql`
    insert into product_movements (provider_id, product_ref, amount, payments)
    select ${providerId}, ${productRefOf(providerId, 0)}, 7, 1 from generate_series(1, 2000)`
  await add
  let isOver = false
  const folding = [1, 2, 3].map(async () => {
    while ((await foldProductMovements(sql, 20)) > 0);
    isOver = true
  })
  while (!isOver) {
    const tally = (await read(providerId)).get(productRefOf(providerId, 0))
    expect(tally).toEqual({ balanceMinor: 14_000, totalTransactions: 2_000 })
  }
  await Promise.all(folding)
})
