import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { decideOnInvoice } from '../src/invoice-decisions/decide-on-invoice.ts'
import type { DecisionOutcome, InvoiceChange } from '../src/invoice-decisions/invoice-decision.ts'
import { listDecisions } from '../src/invoice-decisions/repository.ts'
import { endCharges } from '../src/payments/end-charges.ts'
import { invoiceLine } from '../src/pricing/invoice-line.ts'
import { payInvoice } from '../src/invoices/settle-invoice.ts'
import { listUnbalancedInvoices } from '../src/money-ledger/unbalanced.ts'
import { chargeMaxMinor } from '../src/money/processor-amounts.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { lockPurchase } from '../src/purchases/repository.ts'
import { billedAt, createPurchases, inWork, type BilledCustomer } from './billed-customers.ts'
import {
  decisionModel,
  modelDue,
  modelSteps,
  startModel,
  type ModelStep,
} from './decision-model.ts'
import { invoicing, month, price } from './invoicing.ts'

/* On a real PostgreSQL: what people decide about invoices, with the ledger and the purchases. */

let testDatabase: TestDatabase
let database: Database
let providers = 0
let providerId: string
let customer: BilledCustomer
let of: ReturnType<typeof invoicing>

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
})
afterAll(() => testDatabase.stop())
beforeEach(startProvider)

async function startProvider(): Promise<void> {
  providerId = `prv_${providers++}`
  const [created] = await createPurchases(database, providerId, 1)
  customer = created!
  of = invoicing(database, providerId, customer)
}

function decide(
  invoiceRef: string,
  change: InvoiceChange,
  idempotencyKey: string | null = null,
  reason = 'decided',
): Promise<DecisionOutcome> {
  return inWork(database, providerId, (work) =>
    decideOnInvoice({ ...work, idempotencyKey }, { invoiceRef, change, reason }),
  )
}

const purchaseNow = () =>
  inWork(database, providerId, ({ sql }) => lockPurchase(sql, providerId, customer.purchaseRef))

async function setPurchase(change: Record<string, unknown>): Promise<void> {
  const sql = database.in('sandbox')
  await sql`
    update purchases set ${sql(change)}
    where provider_id = ${providerId} and reference = ${customer.purchaseRef}`
}

async function failCharge(invoiceRef: string): Promise<void> {
  await database.in('sandbox')`
    update invoices set failed_charges = 1
    where provider_id = ${providerId} and reference = ${invoiceRef}`
}

async function apply(invoiceRef: string, step: ModelStep, at: number): Promise<void> {
  if (step.kind === 'charged') {
    await of.change(invoiceRef, async (work, invoice) => {
      const amountMinor =
        invoice.totalMinor - invoice.carriedMinor - invoice.paidMinor - invoice.creditedMinor
      const isPayable = invoice.status === 'open' || invoice.status === 'uncollectible'
      if (isPayable && amountMinor > 0n) {
        await payInvoice(work, invoice, { chargeRef: `${invoiceRef}:${at}`, amountMinor })
      }
    })
    return
  }
  const outcome = await decide(invoiceRef, step, `${invoiceRef}:${at}`)
  const repeated = await decide(invoiceRef, step, `${invoiceRef}:${at}`)
  // A repetition of a decision changes nothing; a refused request may be sent again.
  if (outcome.kind === 'decided') expect(repeated).toEqual(outcome)
}

describe('decisions about an invoice', () => {
  test('move exactly the amounts that a model expects, in any sequence', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 3 }),
        modelSteps,
        async (amounts, steps) => {
          await startProvider()
          const totalMinor = amounts.reduce((sum, each) => sum + each, 0)
          fc.pre(totalMinor >= 50)
          const reference = await of.bill({ lines: amounts.map(price), parts: ['usage'] })
          let model = startModel(amounts)
          for (const [at, step] of steps.entries()) {
            await apply(reference, step, at)
            model = decisionModel(model, step)
            const { status, paidMinor, creditedMinor } = await of.look(reference)
            expect({ status, paid: Number(paidMinor), credited: Number(creditedMinor) }).toEqual({
              status: model.status,
              paid: model.charged + model.outside,
              credited: model.credited,
            })
            expect(await of.accounts()).toEqual(model.accounts)
            expect(-Number(await of.waiting()) + 0).toBe(model.balance)
          }
          const sql = database.in('sandbox')
          expect(await listUnbalancedInvoices(sql, 10)).toEqual([])
          expect(modelDue(model)).toBeGreaterThanOrEqual(0)
        },
      ),
      randomRuns(120),
    )
  })

  test('are stored with their reason and their author, and are not changed', async () => {
    const reference = await of.charge(1_000)
    await decide(reference, { kind: 'credited', amountMinor: 400n }, null, 'an outage')
    await decide(reference, { kind: 'paid_outside' }, null, 'transfer 4711')
    const decisions = await inWork(database, providerId, ({ sql }) =>
      listDecisions(sql, providerId, reference),
    )
    expect(decisions).toMatchObject([
      { kind: 'credited', amountMinor: 400n, reason: 'an outage', decidedBy: 'job:test' },
      { kind: 'paid_outside', amountMinor: 600n, reason: 'transfer 4711', creditNoteRef: null },
    ])
    expect(decisions[0]!.creditNoteRef).toMatch(/^crn_/)
    const change = database.in('sandbox')`update invoice_decisions set reason = 'another'`
    await expect(change).rejects.toThrow('write a credit note')
  })

  test('are made once for a key, also by requests at the same time', async () => {
    const half = { kind: 'credited', amountMinor: 500n } as const
    for (const change of [half, { kind: 'voided' }] as const) {
      const reference = await of.charge(1_000)
      const outcomes = await Promise.all(
        Array.from({ length: 6 }, () => decide(reference, change, reference)),
      )
      for (const each of outcomes) expect(each).toEqual(outcomes[0])
      expect(outcomes[0]).toMatchObject({ kind: 'decided' })
      expect((await of.look(reference)).creditedMinor).toBe(change === half ? 500n : 0n)
      const other = await decide(reference, { kind: 'credited', amountMinor: 400n }, reference)
      expect(other).toEqual({ kind: 'key-reused' })
    }
  })

  test('are refused for invoices of other providers', async () => {
    const reference = await of.charge(1_000)
    await startProvider()
    expect(await decide(reference, { kind: 'voided' })).toEqual({ kind: 'not-found' })
  })

  test('name what is left if the amount is too large', async () => {
    const reference = await of.bill({ lines: [price(700), price(300)] })
    expect(await decide(reference, { kind: 'credited', amountMinor: 1_001n })).toEqual({
      kind: 'amount',
      leftMinor: 1_000n,
    })
    const lines = [{ line: 1, amountMinor: 301n }]
    expect(await decide(reference, { kind: 'credited', lines })).toEqual({
      kind: 'line',
      line: 1,
      leftMinor: 300n,
    })
    expect(await decide(reference, { kind: 'paid_outside', amountMinor: 2_000n })).toEqual({
      kind: 'amount',
      leftMinor: 1_000n,
    })
  })
})

describe('the purchase of an invoice', () => {
  const usageBill = () => of.bill({ lines: [price(1_000)], parts: ['usage'] })

  test.each<InvoiceChange>([
    { kind: 'voided' },
    { kind: 'written_off' },
    { kind: 'credited' },
    { kind: 'paid_outside' },
  ])('continues after it was past due, if the invoice is $kind', async (change) => {
    const reference = await usageBill()
    await failCharge(reference)
    await setPurchase({ status: 'past_due', retry_count: 1 })
    expect(await decide(reference, change)).toMatchObject({ kind: 'decided' })
    expect(await purchaseNow()).toMatchObject({ status: 'active', retryCount: 0 })
  })

  test('stays past due while another invoice is unpaid', async () => {
    const [one, other] = [await usageBill(), await usageBill()]
    for (const reference of [one, other]) await failCharge(reference)
    await setPurchase({ status: 'past_due', retry_count: 1 })
    await decide(one, { kind: 'voided' })
    expect(await purchaseNow()).toMatchObject({ status: 'past_due' })
    await decide(other, { kind: 'paid_outside' })
    expect(await purchaseNow()).toMatchObject({ status: 'active' })
  })

  test('begins the period of a renewal that is credited or paid outside, and of no other', async () => {
    for (const change of [{ kind: 'credited' }, { kind: 'paid_outside' }] as const) {
      await startProvider()
      const period = month(1)
      const reference = await of.bill({ lines: [price(1_000)], period })
      await setPurchase({ next_billing_date: period.start })
      for (const kind of ['voided', 'written_off'] as const) {
        expect(await decide(reference, { kind })).toEqual({
          kind: 'starts-period',
          purchaseRef: customer.purchaseRef,
        })
      }
      await decide(reference, { ...change, amountMinor: 400n })
      expect((await purchaseNow())!.nextBillingDate).toEqual(period.start)
      await decide(reference, change)
      expect((await purchaseNow())!.nextBillingDate).toEqual(period.end)
    }
  })
})

test('what is left of a held invoice is charged once it fits into one charge', async () => {
  const mostMinor = chargeMaxMinor('USD')
  const reference = await of.charge(Number(mostMinor) + 1_000)
  expect(await of.look(reference)).toMatchObject({ isHeld: true, nextChargeAt: null })
  await decide(reference, { kind: 'paid_outside', amountMinor: 999n })
  expect(await of.look(reference)).toMatchObject({ isHeld: true, nextChargeAt: null })
  await decide(reference, { kind: 'credited', amountMinor: 1n })
  expect(await of.look(reference)).toMatchObject({ isHeld: false, nextChargeAt: billedAt })
})

test('a part that was paid for a period which does not begin is credited to the next invoice', async () => {
  const period = month(1)
  const reference = await of.bill({ lines: [price(1_000)], period })
  await setPurchase({ next_billing_date: period.start })
  await decide(reference, { kind: 'paid_outside', amountMinor: 400n })
  await inWork(database, providerId, (work) => endCharges(work, customer.purchaseRef))
  expect(await of.look(reference)).toMatchObject({ status: 'paid', carriedMinor: 600n })
  expect(await of.waiting()).toBe(-400n)
  expect(await of.accounts()).toEqual({ carried: -400, outside: 400 })
  expect(await listUnbalancedInvoices(database.in('sandbox'), 10)).toEqual([])
})

test.each<InvoiceChange>([{ kind: 'paid_outside' }, { kind: 'credited', amountMinor: 600n }])(
  'what was paid for a period that cannot begin any more is credited, if $kind pays the rest',
  async (change) => {
    const period = month(1)
    const reference = await of.bill({ lines: [price(1_000)], period })
    if (change.kind === 'credited') {
      await decide(reference, { kind: 'paid_outside', amountMinor: 400n })
    }
    // The purchase ends while a payment of the invoice could still succeed, so the invoice stays open.
    await setPurchase({ next_billing_date: null, status: 'cancelled', ended_at: billedAt })
    await decide(reference, change)
    expect(await of.look(reference)).toMatchObject({ status: 'paid' })
    expect(await of.waiting()).toBe(change.kind === 'credited' ? -400n : -1_000n)
    expect(await listUnbalancedInvoices(database.in('sandbox'), 10)).toEqual([])
  },
)

test('a line is not credited by more than the invoice charges after its negative lines', async () => {
  const discount = invoiceLine({ kind: 'recurring', amountMinor: '-700' }, 'Discount', month(0))
  const reference = await of.bill({ lines: [price(1_000), discount] })
  await apply(reference, { kind: 'charged' }, 0)
  const credit = (amountMinor: bigint): InvoiceChange => ({
    kind: 'credited',
    lines: [{ line: 0, amountMinor }],
  })
  expect(await decide(reference, credit(301n))).toEqual({ kind: 'amount', leftMinor: 300n })
  expect(await decide(reference, credit(300n))).toMatchObject({ kind: 'decided' })
  expect(await decide(reference, credit(1n))).toEqual({ kind: 'amount', leftMinor: 0n })
  expect(await of.waiting()).toBe(-300n)
})

test('what an earlier credit paid for is credited as well', async () => {
  const first = await of.charge(300)
  await apply(first, { kind: 'charged' }, 0)
  await decide(first, { kind: 'credited' })
  const reference = await of.charge(1_000)
  expect(await of.waiting()).toBe(0n)
  await apply(reference, { kind: 'charged' }, 0)
  expect(await of.look(reference)).toMatchObject({ paidMinor: 700n })
  expect(await decide(reference, { kind: 'credited' })).toMatchObject({
    decision: { amountMinor: 1_000n },
  })
  expect(await of.waiting()).toBe(-1_000n)
})

test('a remainder that the processor cannot charge moves to the next invoice', async () => {
  const reference = await of.charge(100_000, 'ISK')
  await decide(reference, { kind: 'paid_outside', amountMinor: 12_345n })
  expect(await of.look(reference)).toMatchObject({ status: 'open', carriedMinor: 55n })
  expect(await of.waiting('ISK')).toBe(55n)
  await decide(reference, { kind: 'credited', amountMinor: 87_570n })
  expect(await of.look(reference)).toMatchObject({ status: 'paid', carriedMinor: 85n })
})
