import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import type {
  PaymentIntent as ProcessorIntent,
  Refund,
} from '@tollgate/platform/payments/payment-objects'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { listCreditNotes, type CreditNote } from '../src/invoices/credit-notes.ts'
import { creditedTaxOf } from '../src/invoices/decide-credit.ts'
import type { InvoiceWithLines } from '../src/invoices/invoice.ts'
import { listPaymentsOf } from '../src/payments/payments.ts'
import { recomputeInvoice } from '../src/invoices/recompute-invoice.ts'
import { dollarCents } from '../src/money/dollar-amount.ts'
import { listUnbalancedInvoices } from '../src/money-ledger/unbalanced.ts'
import { applyPaymentState } from '../src/settlement/apply-payment-state.ts'
import { applyRefund } from '../src/settlement/apply-refund.ts'
import { insertIntent } from '../src/payments/intents-repository.ts'
import type { PaymentIntent } from '../src/payments/payment-intent.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { breakDownTax, type TaxBreakdown } from '../src/invoices/tax-breakdown.ts'
import { billedAt, createPurchases, inWork, type BilledCustomer } from './billed-customers.ts'
import { invoicing } from './invoicing.ts'
import { createTestIntent } from './test-intent.ts'

/*
 * Purchases and their refunds on a real PostgreSQL. Their invoices and credit notes have the amounts of a calculation with
 * integers only.
 */

let testDatabase: TestDatabase
let database: Database
let providers = 0

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
})
afterAll(() => testDatabase.stop())

/** Units of the currency that one dollar buys. */
const rates = { USD: '1', EUR: '0.92', JPY: '150', KWD: '0.307' } as const

type Bought = {
  readonly currency: keyof typeof rates
  readonly what: 'credits' | 'month' | 'for good'
  readonly price: number
  /** Null if the customer held the plan before. */
  readonly setupFee: number
  /** Tenths of a percent; null if the customer has no tax details. */
  readonly rate: number | null
  readonly isInclusive: boolean
  /** Refunds in order, in percent of the remaining payment, and whether each succeeded. */
  readonly refunds: readonly (readonly [percent: number, becomes: 'arrived' | 'failed late'])[]
}

const bought: fc.Arbitrary<Bought> = fc.record({
  currency: fc.constantFrom('USD', 'EUR', 'JPY', 'KWD'),
  what: fc.constantFrom('credits', 'month', 'for good'),
  price: fc.integer({ min: 50, max: 200_000 }),
  setupFee: fc.constantFrom(0, 1, 999),
  rate: fc.constantFrom(null, 0, 55, 190, 250, 255),
  isInclusive: fc.boolean(),
  refunds: fc.array(
    fc.tuple(fc.integer({ min: 1, max: 100 }), fc.constantFrom('arrived', 'failed late')),
    { maxLength: 4 },
  ),
})

test('every purchase and refund has its invoice and credit notes, to the cent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(bought, { minLength: 1, maxLength: 5 }), async (sales) => {
      const providerId = `prv_${providers++}`
      const customers = await createPurchases(database, providerId, sales.length)
      const of = invoicing(database, providerId, customers[0]!)
      const intents = await Promise.all(
        sales.map((sale, at) => open(providerId, customers[at]!, sale, at)),
      )
      // All purchases run concurrently, and two readers check each of them.
      await Promise.all([...intents, ...intents].map((intent) => pay(providerId, intent)))
      const numbers: bigint[] = []
      for (const [at, intent] of intents.entries()) {
        const invoiceRef = await invoiceOf(intent)
        const invoice = await of.look(invoiceRef)
        checkInvoice(invoice, sales[at]!, intent)
        numbers.push(invoice.number!)
        const paid = await inWork(database, providerId, ({ sql }) =>
          listPaymentsOf(sql, providerId, [invoiceRef]),
        )
        expect(paid.get(invoiceRef)).toMatchObject([
          { reference: intent.reference, paidWith: { brand: 'visa', last4: '4242' } },
        ])
        let arrivedMinor = 0n
        for (const [nth, [percent, becomes]] of sales[at]!.refunds.entries()) {
          const leftMinor = intent.originalAmountMinor - arrivedMinor
          const amountMinor = (leftMinor * BigInt(percent) + 99n) / 100n
          if (amountMinor === 0n) break
          await payBack(providerId, intent, nth, amountMinor, becomes)
          if (becomes === 'arrived') arrivedMinor += amountMinor
          const notes = await inWork(database, providerId, ({ sql }) =>
            listCreditNotes(sql, providerId, invoiceRef),
          )
          checkNotes(notes, await of.look(invoiceRef), intent, arrivedMinor)
        }
        await checkAccounts(sales[at]!, intent, arrivedMinor)
      }
      expect(numbers.toSorted((one, other) => Number(one - other))).toEqual(
        sales.map((_, at) => BigInt(at) + 1n),
      )
      expect(await listUnbalancedInvoices(database.in('sandbox'), 9)).toEqual([])
    }),
    { ...randomRuns(40), interruptAfterTimeLimit: 240_000, markInterruptAsFailure: false },
  )
}, 600_000)

function totalOf({ price, setupFee, what }: Bought): bigint {
  return BigInt(price + (what === 'credits' ? 0 : setupFee))
}

/** Rounds half away from zero, for values of at least 0. */
function rounded(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor)
}

function taxOf(sale: Bought): bigint {
  const { rate, isInclusive } = sale
  if (rate === null) return 0n
  const perMille = BigInt(rate)
  return rounded(totalOf(sale) * perMille, isInclusive ? 1000n + perMille : 1000n)
}

function checkInvoice(invoice: InvoiceWithLines, sale: Bought, intent: PaymentIntent): void {
  const paid = totalOf(sale) + (sale.isInclusive ? 0n : taxOf(sale))
  expect(invoice).toMatchObject({
    status: 'paid',
    totalMinor: paid,
    paidMinor: paid,
    currency: sale.currency,
    nextChargeAt: null,
    parties: {
      seller: { name: 'Acme', address: null },
      buyer: { reference: intent.customerRef },
    },
  })
  const kinds = { credits: 'credits', month: 'recurring', 'for good': 'one_time' } as const
  const fee = sale.what === 'credits' || sale.setupFee === 0 ? [] : ['setup_fee']
  const tax = sale.rate === null ? [] : ['tax']
  expect(invoice.lines.map(({ inputs }) => inputs.kind)).toEqual([kinds[sale.what], ...fee, ...tax])
  expect(invoice.lines[0]).toMatchObject({ amountMinor: BigInt(sale.price) })
  if (sale.rate !== null) expect(invoice.lines.at(-1)).toMatchObject({ amountMinor: taxOf(sale) })
  expect(recomputeInvoice(invoice)).toEqual([])
}

function checkNotes(
  notes: readonly CreditNote[],
  invoice: InvoiceWithLines,
  { originalAmountMinor: paidMinor }: PaymentIntent,
  arrivedMinor: bigint,
): void {
  expect(invoice.refundedMinor).toBe(arrivedMinor)
  const left = arrivedMinor === paidMinor ? 'refunded' : 'partly_refunded'
  expect(invoice.status).toBe(arrivedMinor === 0n ? 'paid' : left)
  const valid = notes.filter(({ voidedAt }) => voidedAt === null)
  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, one) => all + one, 0n)
  expect(sum(valid.map(({ totalMinor }) => totalMinor))).toBe(arrivedMinor)
  const taxMinor = invoice.lines.find(({ inputs }) => inputs.kind === 'tax')?.amountMinor ?? 0n
  expect(sum(valid.map((note) => creditedTaxOf(note, invoice.lines)))).toBe(
    rounded(taxMinor * arrivedMinor, paidMinor),
  )
}

async function checkAccounts(
  sale: Bought,
  { customerRef, originalAmountMinor: paidMinor }: PaymentIntent,
  arrivedMinor: bigint,
): Promise<void> {
  const rows = await database.in('sandbox')<{ account: string; sum: string }[]>`
    select account, sum(amount)::text as sum from ledger_entries
    where customer_ref = ${customerRef} and unit = ${sale.currency} group by 1 having sum(amount) <> 0`
  const taxMinor = taxOf(sale)
  const taxBack = rounded(taxMinor * arrivedMinor, paidMinor)
  const isCredits = sale.what === 'credits'
  const earnedMinor = paidMinor - taxMinor - (isCredits ? 0n : arrivedMinor - taxBack)
  const expected = {
    clearing: paidMinor - arrivedMinor,
    tax: taxBack - taxMinor,
    [isCredits ? 'prepaid' : 'revenue']: -earnedMinor,
    // A job removes the credits and their value.
    refunds: isCredits ? arrivedMinor - taxBack : 0n,
  }
  expect(Object.fromEntries(rows.map(({ account, sum }) => [account, BigInt(sum)]))).toEqual(
    Object.fromEntries(Object.entries(expected).filter(([, amount]) => amount !== 0n)),
  )
}

async function invoiceOf({ reference }: PaymentIntent): Promise<string> {
  const [row] = await database.in('sandbox')<{ invoice_ref: string }[]>`
    select invoice_ref from payment_intents where reference = ${reference}`
  return row!.invoice_ref
}

async function open(
  providerId: string,
  { customerRef }: BilledCustomer,
  sale: Bought,
  at: number,
): Promise<PaymentIntent> {
  const { currency, what, price, setupFee, rate, isInclusive } = sale
  const reference = `txn_${providerId}_${at}`
  const productRef = `prd_${providerId}_${at}`
  const total = totalOf(sale)
  const rule = { treatment: 'standard', ratePerMille: String(rate ?? 0), country: 'SE' } as const
  const tax: TaxBreakdown | null = rate === null ? null : breakDownTax(total, rule, isInclusive)
  const terms = what === 'month' ? ({ billingCycle: 'monthly' } as const) : {}
  const isCredits = what === 'credits'
  const planSnapshot = {
    reference: `pln_${providerId}_${at}`,
    name: 'Pro',
    type: what === 'month' ? 'recurring' : 'one-time',
    currency,
    priceMinor: price,
    basePriceMinor: null,
    setupFeeMinor: setupFee,
    meterRef: null,
    terms,
  } as const
  const intent = createTestIntent(
    {
      reference,
      purpose: isCredits ? 'credit_topup' : 'product',
      customerRef,
      productRef: isCredits ? null : productRef,
      planRef: isCredits ? null : planSnapshot.reference,
      planSnapshot: isCredits ? null : planSnapshot,
      amountMinor: dollarCents(tax?.totalMinor ?? total, currency, rates[currency]),
      originalAmountMinor: tax?.totalMinor ?? total,
      currency,
      exchangeRate: rates[currency],
      tax,
      credits: isCredits ? total * 100n : null,
    },
    billedAt,
  )
  await inWork(database, providerId, async ({ sql }) => {
    await sql`
      insert into products (provider_id, reference, name, status, created_at, updated_at)
      values (${providerId}, ${productRef}, 'API', 'active', ${billedAt}, ${billedAt})`
    await sql`
      insert into plans
        (provider_id, reference, product_ref, name, type, status, price, currency, created_at, updated_at)
      values (${providerId}, ${planSnapshot.reference}, ${productRef}, 'Pro', ${planSnapshot.type},
        'active', ${price}, ${currency}, ${billedAt}, ${billedAt})`
    await sql`
      insert into customer_references (provider_id, reference, customer_ref, linked_at)
      values (${providerId}, ${customerRef}, ${customerRef}, ${billedAt})`
    await insertIntent(sql, providerId, intent)
  })
  return intent
}

function pay(providerId: string, intent: PaymentIntent): Promise<unknown> {
  const { originalAmountMinor: amountMinor, currency, reference } = intent
  const payment: ProcessorIntent = {
    kind: 'payment_intent',
    id: `pi_${reference}`,
    status: 'succeeded',
    amountMinor,
    receivedMinor: amountMinor,
    currency,
    chargeId: `ch_${reference}`,
    settlement: undefined,
    clientSecret: undefined,
    customerId: undefined,
    paymentMethodId: undefined,
    nextAction: undefined,
    lastDecline: undefined,
    metadata: {},
    createdAt: billedAt,
  }
  const visa = { brand: 'visa', last4: '4242', expMonth: 1, expYear: 2040, reusable: true }
  const card = { ...visa, paymentMethodId: `pm_${reference}` }
  return inWork(database, providerId, (work) =>
    applyPaymentState(
      work,
      reference,
      { payment, card, isCardSaved: false },
      'https://shop.example',
    ),
  )
}

async function payBack(
  providerId: string,
  { reference, currency }: PaymentIntent,
  nth: number,
  amountMinor: bigint,
  becomes: 'arrived' | 'failed late',
): Promise<void> {
  const refund: Refund = {
    kind: 'refund',
    id: `re_${reference}_${nth}`,
    status: 'succeeded',
    amountMinor,
    currency,
    chargeId: undefined,
    paymentIntentId: `pi_${reference}`,
    reason: undefined,
    pendingReason: undefined,
    failureReason: undefined,
    settlement: undefined,
    failureSettlement: undefined,
    metadata: {},
    createdAt: billedAt,
  }
  const statuses =
    becomes === 'arrived' ? (['succeeded'] as const) : (['succeeded', 'failed'] as const)
  // Each event is reported twice, and earlier ones once more.
  for (const status of [...statuses, ...statuses]) {
    await inWork(database, providerId, (work) =>
      applyRefund(work, reference, { ...refund, status }),
    )
  }
}
