import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { creditInvoice, listCreditNotes, type CreditRequest } from '../src/invoices/credit-notes.ts'
import { carryOver } from '../src/invoices/issue-invoice.ts'
import { recomputeInvoice } from '../src/invoices/recompute-invoice.ts'
import {
  failRefund,
  finishRefund,
  payInvoice,
  startRefund,
  voidInvoice,
  writeOffInvoice,
} from '../src/invoices/settle-invoice.ts'
import { dueMinor } from '../src/invoices/transitions.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { createPurchases, inWork, type BilledCustomer } from './billed-customers.ts'
import { invoicing, price } from './invoicing.ts'

/* On a real PostgreSQL: changes of issued invoices, with the amounts carried over and the ledger. */

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
beforeEach(async () => {
  providerId = `prv_${providers++}`
  const [created] = await createPurchases(database, providerId, 1)
  customer = created!
  of = invoicing(database, providerId, customer)
})

const pay = (reference: string, amountMinor: number, chargeRef = 'ch_1') =>
  of.change(reference, (work, invoice) =>
    payInvoice(work, invoice, { chargeRef, amountMinor: BigInt(amountMinor) }),
  )

const writeOff = (reference: string) => of.change(reference, writeOffInvoice)
const voidByReference = (reference: string) => of.change(reference, voidInvoice)

function refund(
  step: typeof startRefund | typeof finishRefund | typeof failRefund,
  reference: string,
  amountMinor: number,
  refundRef = 're_1',
) {
  const named = { refundRef, amountMinor: BigInt(amountMinor) }
  return of.change<unknown>(reference, (work, invoice) => step(work, invoice, named))
}

const credit = (reference: string, given: Omit<CreditRequest, 'reason'>) =>
  of.change(reference, (work, invoice) => creditInvoice(work, invoice, { ...given, reason: null }))

describe('an amount too small to be charged', () => {
  test('is carried over to the next invoice, which charges it', async () => {
    const small = await of.charge(30)
    expect(await of.look(small)).toMatchObject({ status: 'paid', carriedMinor: 30n, paidMinor: 0n })
    expect(await of.waiting()).toBe(30n)
    expect(await of.accounts()).toEqual({ carried: 30, revenue: -30 })
    const next = await of.look(await of.charge(40))
    expect(next).toMatchObject({ status: 'open', totalMinor: 70n, carriedMinor: 0n })
    expect(next.lines.map(({ amountMinor }) => amountMinor)).toEqual([40n, 30n])
    expect(recomputeInvoice(next)).toEqual([])
    expect(await of.waiting()).toBe(0n)
    expect(await of.accounts()).toEqual({ receivable: 70, revenue: -70 })
  })

  test('is carried over in its own currency', async () => {
    await of.charge(30)
    expect(await of.look(await of.charge(100, 'EUR'))).toMatchObject({ totalMinor: 100n })
    expect([await of.waiting(), await of.waiting('EUR')]).toEqual([30n, 0n])
  })

  test('reduces the next invoices until it is used up, if it is a credit', async () => {
    await of.charge(-300)
    expect(await of.waiting()).toBe(-300n)
    expect(await of.look(await of.charge(200))).toMatchObject({ status: 'paid', totalMinor: -100n })
    expect(await of.look(await of.charge(500))).toMatchObject({ status: 'open', totalMinor: 400n })
    expect(await of.waiting()).toBe(0n)
  })

  test('below the smallest step of the processor is carried over as well', async () => {
    const stored = await of.look(await of.charge(12_345, 'ISK'))
    expect([stored.status, dueMinor(stored), stored.carriedMinor]).toEqual(['open', 12_300n, 45n])
  })

  test('according to the processor is carried over as well', async () => {
    const reference = await of.charge(60)
    await of.change(reference, (work, invoice) => carryOver(work, invoice, 60n, 'refused'))
    expect(await of.look(reference)).toMatchObject({ status: 'paid', carriedMinor: 60n })
    expect(await of.waiting()).toBe(60n)
  })

  test('is carried into only one of two concurrent invoices', async () => {
    await of.charge(30)
    const both = await Promise.all([of.charge(100), of.charge(100)])
    const totals = await Promise.all(both.map(async (each) => (await of.look(each)).totalMinor))
    expect(totals.toSorted()).toEqual([100n, 130n])
  })
})

test('of many concurrent invoices of one customer is never lost, nor is a number', async () => {
  const amounts = [30, -20, 100, 45, -300, 10, 700, 49, 1, -7]
  const references = await Promise.all([...amounts, ...amounts].map((each) => of.charge(each)))
  const invoices = await Promise.all(references.map(of.look))
  const owed = invoices.reduce((sum, invoice) => sum + dueMinor(invoice), 0n)
  expect(owed + (await of.waiting())).toBe(2n * 608n)
  const numbers = invoices.map(({ number }) => Number(number)).toSorted((one, two) => one - two)
  expect(numbers).toEqual(references.map((_, at) => at + 1))
})

test('an amount above the maximum of the processor is held for a person', async () => {
  expect(await of.look(await of.charge(100_000_000))).toMatchObject({
    isHeld: true,
    status: 'open',
  })
})

describe('a payment', () => {
  test('is recorded once, however often it is reported', async () => {
    const reference = await of.charge(1_000)
    await Promise.all([1, 2, 3].map(() => pay(reference, 1_000)))
    expect(await of.look(reference)).toMatchObject({ status: 'paid', paidMinor: 1_000n })
    expect(await of.accounts()).toEqual({ clearing: 1_000, revenue: -1_000 })
  })

  test('with the reference of another payment is refused', async () => {
    const reference = await of.charge(1_000)
    await pay(reference, 400)
    await expect(pay(reference, 600)).rejects.toThrow('posted with other entries')
    expect(await of.look(reference)).toMatchObject({ status: 'open', paidMinor: 400n })
  })

  test('for a written-off invoice is posted against the write-off once, even if reported twice', async () => {
    const reference = await of.charge(1_000)
    await writeOff(reference)
    expect(await of.accounts()).toEqual({ revenue: -1_000, written_off: 1_000 })
    await pay(reference, 1_000)
    await pay(reference, 1_000)
    expect(await of.look(reference)).toMatchObject({ status: 'paid' })
    expect(await of.accounts()).toEqual({ clearing: 1_000, revenue: -1_000 })
  })
})

describe('a refund', () => {
  let reference: string
  beforeEach(async () => {
    reference = await of.charge(1_000)
    await pay(reference, 1_000)
  })

  test('changes the invoice when it has succeeded', async () => {
    await refund(startRefund, reference, 400)
    expect(await of.look(reference)).toMatchObject({ status: 'paid', refundedMinor: 0n })
    expect(await of.accounts()).toMatchObject({ refunds: 400, refunds_due: -400, clearing: 1_000 })
    await refund(finishRefund, reference, 400)
    await refund(finishRefund, reference, 400)
    expect(await of.look(reference)).toMatchObject({ status: 'partly_refunded' })
    await refund(finishRefund, reference, 600, 're_2')
    expect(await of.look(reference)).toMatchObject({ status: 'refunded', refundedMinor: 1_000n })
    expect(await of.accounts()).toEqual({ refunds: 1_000, revenue: -1_000 })
  })

  test.each([
    ['before it succeeded', [startRefund, failRefund]],
    ['before it was reported', [failRefund]],
    ['after it succeeded', [startRefund, finishRefund, failRefund]],
    ['after it succeeded, reported in another order', [finishRefund, failRefund, startRefund]],
    ['and is reported late', [failRefund, finishRefund]],
    [
      'and is reported twice each time',
      [startRefund, finishRefund, failRefund, finishRefund, failRefund],
    ],
  ])('that fails %s leaves the invoice unchanged', async (_, steps) => {
    for (const step of steps) await refund(step, reference, 400)
    expect(await of.look(reference)).toMatchObject({ status: 'paid', refundedMinor: 0n })
    expect(await of.accounts()).toEqual({ clearing: 1_000, revenue: -1_000 })
  })
})

describe('a void invoice', () => {
  test('is no longer due, and returns the amount that it had taken over', async () => {
    await of.charge(30)
    const reference = await of.charge(1_000)
    await voidByReference(reference)
    expect(await of.look(reference)).toMatchObject({ status: 'void', number: 2n })
    expect(await of.waiting()).toBe(30n)
    expect(await of.accounts()).toEqual({ carried: 30, revenue: -30 })
  })

  test('may be a draft without a number', async () => {
    await of.charge(30)
    const reference = await inWork(database, providerId, async (work) => {
      const made = await of.draft(work, { lines: [price(1_000)] })
      return made.kind === 'created' ? made.invoice.reference : made.kind
    })
    expect([await of.waiting(), (await of.look(reference)).status]).toEqual([0n, 'draft'])
    await voidByReference(reference)
    expect(await of.look(reference)).toMatchObject({ status: 'void', number: null })
    expect(await of.waiting()).toBe(30n)
  })

  test('cannot be a paid invoice', async () => {
    const reference = await of.charge(1_000)
    await pay(reference, 1_000)
    await expect(voidByReference(reference)).rejects.toThrow('it cannot be voided')
  })
})

describe('a credit note', () => {
  const line = (at: number, amountMinor: number) => ({ line: at, amountMinor: BigInt(amountMinor) })

  test('reduces the amount due', async () => {
    const reference = await of.charge(1_000)
    const noted = await credit(reference, { settles: 'invoice', lines: [line(0, 400)] })
    expect(noted).toMatchObject({ kind: 'credited', note: { number: 1n, totalMinor: 400n } })
    await pay(reference, 600)
    expect(await of.look(reference)).toMatchObject({ status: 'paid', creditedMinor: 400n })
    expect(await of.accounts()).toEqual({ clearing: 600, revenue: -600 })
  })

  test('of a paid invoice is credited to the next one', async () => {
    const reference = await of.charge(1_000)
    await pay(reference, 1_000)
    await credit(reference, { settles: 'balance', lines: [line(0, 400)] })
    expect(await of.waiting()).toBe(-400n)
    expect(await of.look(await of.charge(1_000))).toMatchObject({ totalMinor: 600n })
    expect(await of.accounts()).toEqual({ clearing: 1_000, receivable: 600, revenue: -1_600 })
  })

  test('of a paid invoice can be refunded', async () => {
    const reference = await of.charge(1_000)
    await pay(reference, 1_000)
    await credit(reference, { settles: 'refund', lines: [line(0, 400)] })
    await refund(finishRefund, reference, 400)
    expect(await of.accounts()).toEqual({ clearing: 600, revenue: -600 })
  })

  test('never credits more than was charged in total', async () => {
    const reference = await of.bill({ lines: [price(1_000), price(500)] })
    const first = { settles: 'invoice', lines: [line(0, 700), line(1, 500)] } as const
    expect(await credit(reference, first)).toMatchObject({ kind: 'credited' })
    const tooMuch = (lines: CreditRequest['lines']) =>
      credit(reference, { settles: 'invoice', lines })
    expect(await tooMuch([line(0, 301)])).toEqual({ kind: 'line', line: 0, leftMinor: 300n })
    expect(await tooMuch([line(0, 200), line(0, 101)])).toMatchObject({ leftMinor: 100n })
    expect(await tooMuch([line(1, 1)])).toMatchObject({ kind: 'line', leftMinor: 0n })
    expect(await tooMuch([line(2, 1)])).toMatchObject({ kind: 'line', leftMinor: 0n })
    expect(await tooMuch([line(0, 0)])).toMatchObject({ kind: 'line' })
    expect(await tooMuch([line(0, 300)])).toMatchObject({ kind: 'credited' })
    const notes = await inWork(database, providerId, ({ sql }) =>
      listCreditNotes(sql, providerId, reference),
    )
    expect(notes.map(({ number, totalMinor, lines }) => [number, totalMinor, lines])).toEqual([
      [1n, 1_200n, first.lines],
      [2n, 300n, [line(0, 300)]],
    ])
    expect(await of.look(reference)).toMatchObject({ status: 'paid', creditedMinor: 1_500n })
  })

  test('does not credit carried-in amounts, or amounts that are settled otherwise', async () => {
    await of.charge(30)
    const reference = await of.charge(1_000)
    const lines = [line(0, 1_000)]
    expect(await credit(reference, { settles: 'invoice', lines: [line(1, 30)] })).toEqual({
      kind: 'line',
      line: 1,
      leftMinor: 0n,
    })
    expect(await credit(reference, { settles: 'balance', lines })).toEqual({ kind: 'not-settled' })
    await pay(reference, 500)
    expect(await credit(reference, { settles: 'invoice', lines })).toEqual({
      kind: 'not-due',
      dueMinor: 530n,
    })
  })
})

test('after any sequence of changes, the ledger and the invoices agree', async () => {
  const amounts = fc.integer({ min: -400, max: 2_000 })
  const steps = fc.constantFrom('pay', 'part', 'void', 'write-off', 'refund', 'fail', 'credit')
  const happening = fc.tuple(fc.nat(9), steps, fc.integer({ min: 1, max: 700 }))
  await fc.assert(
    fc.asyncProperty(
      fc.array(amounts, { minLength: 1, maxLength: 5 }),
      fc.array(happening, { maxLength: 12 }),
      async (charges, happenings) => {
        const provider = `prv_${providers++}`
        const [someone] = await createPurchases(database, provider, 1)
        of = invoicing(database, provider, someone!)
        const references: string[] = []
        for (const amount of charges) references.push(await of.charge(amount))
        for (const [at, step, amount] of happenings) {
          const reference = references[at % references.length]!
          // Impossible changes are refused and have no effect.
          await applyStep(step, reference, amount).catch(() => {})
        }
        const invoices = await Promise.all(references.map(of.look))
        const sum = (what: (invoice: (typeof invoices)[number]) => bigint) =>
          Number(invoices.reduce((all, invoice) => all + what(invoice), 0n))
        const held = await of.accounts()
        const due = (status: string) =>
          sum((each) => (each.status === status ? dueMinor(each) : 0n))
        expect(held['receivable'] ?? 0).toBe(due('open'))
        expect(held['written_off'] ?? 0).toBe(due('uncollectible'))
        expect(held['clearing'] ?? 0).toBe(sum((each) => each.paidMinor - each.refundedMinor))
        expect(held['carried'] ?? 0).toBe(Number(await of.waiting()))
        expect(Object.values(held).reduce((all, each) => all + each, 0)).toBe(0)
        for (const invoice of invoices) expect(recomputeInvoice(invoice)).toEqual([])
      },
    ),
    randomRuns(40),
  )
})

async function applyStep(step: string, reference: string, amount: number): Promise<unknown> {
  const name = `${reference}:${amount}`
  switch (step) {
    case 'pay':
      return pay(reference, Number(dueMinor(await of.look(reference))), name)
    case 'part':
      return pay(reference, amount, name)
    case 'void':
      return voidByReference(reference)
    case 'write-off':
      return writeOff(reference)
    case 'refund':
      return refund(finishRefund, reference, amount, name)
    case 'fail':
      return refund(failRefund, reference, amount, name)
    default:
      return credit(reference, {
        settles: 'invoice',
        lines: [{ line: 0, amountMinor: BigInt(amount) }],
      })
  }
}
