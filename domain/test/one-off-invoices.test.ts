import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { billItems } from '../src/closing/bill-items.ts'
import { isUnsettled, openAmountsOf, readOpenInvoices } from '../src/closing/open-amounts.ts'
import { addItem, type ItemOutcome } from '../src/invoice-decisions/add-item.ts'
import { decideOnInvoice } from '../src/invoice-decisions/decide-on-invoice.ts'
import type { InvoiceChange } from '../src/invoice-decisions/invoice-decision.ts'
import { issueOneOff, type OneOffOutcome } from '../src/invoice-decisions/issue-one-off.ts'
import type { RequestedLine } from '../src/invoice-decisions/requested-line.ts'
import { listPendingItems, removeItem } from '../src/invoices/items-repository.ts'
import { recomputeInvoice } from '../src/invoices/recompute-invoice.ts'
import { chargeMaxMinor } from '../src/money/processor-amounts.ts'
import { listUnbalancedInvoices } from '../src/money-ledger/unbalanced.ts'
import { endCharges } from '../src/payments/end-charges.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { billedAt, createPurchases, inWork, type BilledCustomer } from './billed-customers.ts'
import { invoicing, month, price } from './invoicing.ts'

/* On a real PostgreSQL: invoices of their own lines, items of the next invoice, due dates, and invoices that people hold. */

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
  const { customerRef } = customer
  await database.in('sandbox')`
    insert into customer_references (provider_id, customer_ref, reference, linked_at)
    values (${providerId}, ${customerRef}, ${customerRef}, ${billedAt})`
  of = invoicing(database, providerId, customer)
}

const seller = { name: 'Acme' }
const onboarding: RequestedLine = { description: 'Onboarding', unitMinor: 1_000n, quantity: '1' }

function issue(
  lines: readonly RequestedLine[],
  { dueAt = null, key = null }: { dueAt?: Date | null; key?: string | null } = {},
): Promise<OneOffOutcome> {
  const { customerRef } = customer
  const request = { customerRef, currency: 'USD', lines, dueAt, reason: 'decided' }
  return inWork(database, providerId, (work) =>
    issueOneOff({ ...work, idempotencyKey: key }, request, seller),
  )
}

async function issued(...given: Parameters<typeof issue>): Promise<string> {
  const outcome = await issue(...given)
  if (outcome.kind !== 'decided') throw new Error(outcome.kind)
  return outcome.decision.invoiceRef
}

function add(
  line: RequestedLine,
  key: string | null = null,
  currency = 'USD',
): Promise<ItemOutcome> {
  const { customerRef } = customer
  return inWork(database, providerId, (work) =>
    addItem({ ...work, idempotencyKey: key }, { customerRef, currency, line, reason: 'decided' }),
  )
}

const pending = () =>
  inWork(database, providerId, ({ sql }) => listPendingItems(sql, providerId, customer.customerRef))

function decide(invoiceRef: string, change: InvoiceChange) {
  return inWork(database, providerId, (work) =>
    decideOnInvoice(work, { invoiceRef, change, reason: 'decided' }),
  )
}

/** The price of one unit times the quantity in millionths, rounded half away from zero, without fractions. */
function costOf({ unitMinor, quantity }: RequestedLine): bigint {
  const [whole = '', decimals = ''] = quantity.split('.')
  const millionths = BigInt(whole + decimals.padEnd(6, '0')) * unitMinor
  const rest = millionths % 1_000_000n
  return millionths / 1_000_000n + (rest >= 500_000n ? 1n : 0n)
}

const anyLine: fc.Arbitrary<RequestedLine> = fc.record({
  description: fc.constant('Work'),
  unitMinor: fc.bigInt({ min: 1n, max: 50_000n }),
  quantity: fc
    .integer({ min: 1, max: 9_999_999 })
    .map(
      (millionths) =>
        `${Math.floor(millionths / 1e6)}.${String(millionths % 1e6).padStart(6, '0')}`,
    ),
})

test('charge each line once, on their own invoice or on the next one, to the minor unit', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyLine, { minLength: 1, maxLength: 4 }),
      fc.array(anyLine, { maxLength: 4 }),
      async (own, items) => {
        await startProvider()
        for (const line of items) await add(line)
        const alone = await of.look(await issued(own))
        expect(alone.totalMinor).toBe(sumOf(own))
        expect(recomputeInvoice(alone)).toEqual([])
        expect((await pending()).length).toBe(items.length)
        const waitingMinor = await of.waiting()
        const next = await of.look(await of.charge(500))
        expect(next.totalMinor).toBe(500n + sumOf(items) + waitingMinor)
        expect(recomputeInvoice(next)).toEqual([])
        expect(await pending()).toEqual([])
        expect((await of.look(await of.charge(500))).totalMinor).toBe(500n)
        expect(await listUnbalancedInvoices(database.in('sandbox'), 10)).toEqual([])
      },
    ),
    randomRuns(60),
  )
})

function sumOf(lines: readonly RequestedLine[]): bigint {
  return lines.reduce((sum, line) => sum + costOf(line), 0n)
}

test('an invoice is issued once for a key, and an item is added once, also by requests at the same time', async () => {
  const invoices = await Promise.all(
    Array.from({ length: 5 }, () => issue([onboarding], { key: 'one' })),
  )
  for (const each of invoices) expect(each).toEqual(invoices[0])
  expect(await issue([{ ...onboarding, unitMinor: 2n }], { key: 'one' })).toEqual({
    kind: 'key-reused',
  })
  const added = await Promise.all(Array.from({ length: 5 }, () => add(onboarding, 'two')))
  for (const each of added) expect(each).toEqual(added[0])
  expect(await pending()).toHaveLength(1)
  expect(await add({ ...onboarding, description: 'Other' }, 'two')).toEqual({ kind: 'key-reused' })
})

test('two invoices at the same time charge an item once', async () => {
  await add(onboarding)
  const references = await Promise.all([of.charge(500), of.charge(500)])
  const totals = await Promise.all(references.map((each) => of.look(each)))
  expect(totals.map(({ totalMinor }) => totalMinor).sort()).toEqual([1_500n, 500n])
})

test('an item is charged in its currency only, and not after it was removed', async () => {
  const item = await add(onboarding)
  const reference = item.kind === 'added' ? item.item.reference : ''
  expect(await of.look(await of.charge(5_000, 'SEK'))).toMatchObject({ totalMinor: 5_000n })
  const remove = (customerRef: string) =>
    inWork(database, providerId, ({ sql, now }) =>
      removeItem(sql, providerId, { customerRef, reference }, now),
    )
  expect(await remove('cus_other')).toBe(false)
  expect(await remove(customer.customerRef)).toBe(true)
  expect(await remove(customer.customerRef)).toBe(false)
  expect(await of.look(await of.charge(500))).toMatchObject({ totalMinor: 500n })
})

test('a currency without an exchange rate is refused', async () => {
  expect(await add(onboarding, null, 'XYZ')).toEqual({ kind: 'no-rate' })
})

test('an item stays owed if the period of its invoice does not begin', async () => {
  await add(onboarding)
  const period = month(1)
  const reference = await of.bill({ lines: [price(500)], period })
  await database.in('sandbox')`
    update purchases set next_billing_date = null, status = 'cancelled', ended_at = ${billedAt}
    where provider_id = ${providerId}`
  await inWork(database, providerId, (work) => endCharges(work, customer.purchaseRef))
  expect(await of.look(reference)).toMatchObject({ status: 'open', creditedMinor: 500n })
  const open = await inWork(database, providerId, ({ sql }) =>
    readOpenInvoices(sql, providerId, customer.customerRef),
  )
  expect(open.invoices.map((invoice) => invoice.reference)).toEqual([reference])
})

test('the items of an invoice that is voided are not charged again', async () => {
  await add(onboarding)
  const parts = ['usage'] as const
  const reference = await of.bill({ lines: [price(500)], parts: [...parts] })
  expect(await of.look(reference)).toMatchObject({ totalMinor: 1_500n })
  expect(await decide(reference, { kind: 'voided' })).toMatchObject({ kind: 'decided' })
  expect(await pending()).toEqual([])
  const next = await of.bill({ lines: [price(700)], parts: [...parts] })
  expect(await of.look(next)).toMatchObject({ totalMinor: 700n })
})

test('pending items are an open amount of a customer who leaves, and are billed', async () => {
  await add(onboarding)
  const read = () =>
    inWork(database, providerId, ({ sql }) =>
      readOpenInvoices(sql, providerId, customer.customerRef),
    )
  const none = { micros: 0n, values: new Map<string, bigint>() }
  const open = openAmountsOf(await read(), [], none)
  expect(open.amounts).toMatchObject([{ currency: 'USD', unbilledUsageMinor: 1_000n }])
  expect(isUnsettled(open)).toBe(true)
  await inWork(database, providerId, (work) => billItems(work, customer.customerRef, seller))
  expect((await read()).invoices).toMatchObject([{ totalMinor: 1_000n, status: 'open' }])
  expect(await pending()).toEqual([])
})

test('an invoice is charged when it is due, and its due date can be changed', async () => {
  const dueAt = new Date('2026-09-01T00:00:00Z')
  const reference = await issued([onboarding], { dueAt })
  expect(await of.look(reference)).toMatchObject({ dueAt, nextChargeAt: dueAt })
  const later = new Date('2026-10-01T00:00:00Z')
  await decide(reference, { kind: 'due_date', dueAt: later })
  expect(await of.look(reference)).toMatchObject({ dueAt: later, nextChargeAt: later })
  await decide(reference, { kind: 'paid_outside' })
  expect(await decide(reference, { kind: 'due_date', dueAt })).toMatchObject({ kind: 'impossible' })
})

test('an invoice that is held is not charged until it is released, also if a part is paid', async () => {
  const reference = await issued([onboarding])
  await decide(reference, { kind: 'held' })
  expect(await of.look(reference)).toMatchObject({ isHeld: true, nextChargeAt: null })
  await decide(reference, { kind: 'paid_outside', amountMinor: 100n })
  const dueAt = new Date('2026-09-01T00:00:00Z')
  await decide(reference, { kind: 'due_date', dueAt })
  expect(await of.look(reference)).toMatchObject({ isHeld: true, nextChargeAt: null })
  expect(await decide(reference, { kind: 'held' })).toMatchObject({ kind: 'impossible' })
  await decide(reference, { kind: 'released' })
  expect(await of.look(reference)).toMatchObject({ isHeld: false, nextChargeAt: dueAt })
  expect(await decide(reference, { kind: 'released' })).toMatchObject({ kind: 'impossible' })
})

test('an invoice that exceeds one charge is not released', async () => {
  const reference = await of.charge(Number(chargeMaxMinor('USD')) + 100)
  expect(await decide(reference, { kind: 'released' })).toEqual({
    kind: 'amount',
    leftMinor: chargeMaxMinor('USD'),
  })
})
