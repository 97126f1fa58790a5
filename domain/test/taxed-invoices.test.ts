import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { creditInvoice, listCreditNotes } from '../src/invoices/credit-notes.ts'
import { creditedTaxOf } from '../src/invoices/decide-credit.ts'
import { recomputeInvoice } from '../src/invoices/recompute-invoice.ts'
import { voidInvoice } from '../src/invoices/settle-invoice.ts'
import { changeMerchant, type MerchantChange } from '../src/merchants/repository.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { checkByPerson } from '../src/tax/tax-id-check.ts'
import { saveTaxIdCheck } from '../src/tax/tax-id-checks-repository.ts'
import { saveTaxDetails } from '../src/tax/tax-details-repository.ts'
import type { TaxDetails } from '../src/tax/tax-details.ts'
import { billedAt, createPurchases, inWork, type BilledCustomer } from './billed-customers.ts'
import { invoicing, price } from './invoicing.ts'

/* On a real PostgreSQL: the tax of a provider in Sweden, on invoices and in the ledger. */

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
beforeEach(begin)

async function begin(): Promise<void> {
  providerId = `prv_${providers++}`
  const [created] = await createPurchases(database, providerId, 1)
  customer = created!
  of = invoicing(database, providerId, customer)
  await change({ country: 'SE', vatNumber: 'SE556012579001' })
}

function change(merchant: MerchantChange): Promise<void> {
  return inWork(database, providerId, ({ sql }) =>
    changeMerchant(sql, providerId, merchant, billedAt),
  )
}

const noDetails = { businessName: null, customerName: null, taxId: null, taxIdType: null }

function person(country: string | null): TaxDetails {
  return { ...noDetails, isBusiness: false, country }
}

function business(country: string, taxId: string): TaxDetails {
  return { ...noDetails, isBusiness: true, country, taxId, taxIdType: 'eu_vat' }
}

function enterTaxDetails(details: TaxDetails): Promise<void> {
  const { customerRef } = customer
  return inWork(database, providerId, ({ sql }) =>
    saveTaxDetails(sql, providerId, customerRef, details, billedAt),
  )
}

const credit = (reference: string, amounts: readonly (readonly [line: number, minor: number])[]) =>
  of.change(reference, (work, invoice) =>
    creditInvoice(work, invoice, {
      lines: amounts.map(([line, minor]) => ({ line, amountMinor: BigInt(minor) })),
      settles: 'invoice',
      reason: null,
    }),
  )

describe('an invoice', () => {
  test('adds the tax to its prices', async () => {
    await enterTaxDetails(person('SE'))
    const invoice = await of.look(await of.bill({ lines: [price(700), price(300)] }))
    expect(invoice).toMatchObject({ totalMinor: 1_250n })
    expect(invoice.lines[2]).toMatchObject({
      description: 'VAT 25 % (SE)',
      amountMinor: 250n,
      inputs: {
        kind: 'tax',
        treatment: 'standard',
        country: 'SE',
        ratePerMille: '250',
        baseMinor: '1000',
        isInclusive: false,
      },
    })
    expect(recomputeInvoice(invoice)).toEqual([])
    expect(await of.accounts()).toEqual({ receivable: 1_250, revenue: -1_000, tax: -250 })
  })

  test('shows the tax that its prices contain, and charges it once', async () => {
    await enterTaxDetails(person('SE'))
    const invoice = await of.look(await of.charge(1_250, 'EUR'))
    expect(invoice).toMatchObject({ totalMinor: 1_250n })
    expect(invoice.lines[1]).toMatchObject({ amountMinor: 250n, inputs: { isInclusive: true } })
    expect(recomputeInvoice(invoice)).toEqual([])
    expect(await of.accounts()).toEqual({ receivable: 1_250, revenue: -1_000, tax: -250 })
  })

  test('is taxed by the default of the seller if the customer never gave tax details', async () => {
    await change({ defaultTaxCountry: 'FI' })
    expect(await of.look(await of.charge(1_000))).toMatchObject({ totalMinor: 1_255n })
    await enterTaxDetails(person('SE'))
    expect(await of.look(await of.charge(1_000))).toMatchObject({ totalMinor: 1_250n })
  })

  test('is taxed by the default of the seller if the customer gave a name but no country', async () => {
    await change({ country: 'CA', vatNumber: '123456789RT0001' })
    await enterTaxDetails(person(null))
    expect(await of.look(await of.charge(1_000))).toMatchObject({ totalMinor: 1_050n })
    await change({ defaultTaxCountry: 'CA', defaultTaxRegion: 'ON' })
    expect(await of.look(await of.charge(1_000))).toMatchObject({ totalMinor: 1_130n })
  })

  test('treats prices as the seller says if neither plan nor product does', async () => {
    await enterTaxDetails(person('SE'))
    await change({ defaultTaxBehavior: 'inclusive' })
    expect(await of.look(await of.charge(1_250))).toMatchObject({ totalMinor: 1_250n })
    await database.in('sandbox')`
      update products set tax_behavior = 'exclusive' where provider_id = ${providerId}`
    expect(await of.look(await of.charge(1_000))).toMatchObject({ totalMinor: 1_250n })
  })

  test('taxes a business whose tax id was found invalid like one without a tax id', async () => {
    await enterTaxDetails(business('DE', 'DE123456789'))
    const check = (status: 'valid' | 'invalid') =>
      inWork(database, providerId, ({ sql }) =>
        saveTaxIdCheck(sql, providerId, checkByPerson('DE123456789', status, 'phoned', billedAt)),
      )
    await check('invalid')
    expect(await of.look(await of.charge(1_000))).toMatchObject({ totalMinor: 1_190n })
    await check('valid')
    expect(await of.look(await of.charge(1_000))).toMatchObject({ totalMinor: 1_000n })
  })

  test('names the region and the tax of a Canadian customer', async () => {
    await change({ country: 'CA', vatNumber: '123456789RT0001' })
    await enterTaxDetails({ ...person('CA'), region: 'ON' })
    const invoice = await of.look(await of.charge(1_000))
    expect(invoice.lines[1]).toMatchObject({
      description: 'GST/HST 13 % (CA-ON)',
      amountMinor: 130n,
      inputs: { country: 'CA', region: 'ON' },
    })
    expect(recomputeInvoice(invoice)).toEqual([])
  })

  test('treats prices as inclusive if the product says so', async () => {
    await enterTaxDetails(person('SE'))
    await database.in('sandbox')`
      update products set tax_behavior = 'inclusive' where provider_id = ${providerId}`
    expect(await of.look(await of.charge(1_250))).toMatchObject({ totalMinor: 1_250n })
  })

  test.each([
    [business('DE', 'DE123456789'), 'reverse_charge', 'VAT, reverse charge (DE)'],
    [person('US'), 'none', 'No VAT (US)'],
  ])('shows why no tax is charged: %j', async (details, treatment, description) => {
    await enterTaxDetails(details)
    const { totalMinor, lines } = await of.look(await of.charge(1_000))
    expect([totalMinor, lines.length]).toEqual([1_000n, 2])
    expect(lines[1]).toMatchObject({ amountMinor: 0n, description, inputs: { treatment } })
  })

  test.each([undefined, person('GB')])(
    'has no tax line if no tax is collected: %j',
    async (told) => {
      if (told !== undefined) await enterTaxDetails(told)
      const invoice = await of.look(await of.charge(1_000))
      expect([invoice.totalMinor, invoice.lines.length]).toEqual([1_000n, 1])
    },
  )

  test('does not tax an amount carried over from an earlier invoice again', async () => {
    await enterTaxDetails(person('SE'))
    await of.charge(30)
    expect(await of.waiting()).toBe(38n)
    const invoice = await of.look(await of.charge(1_000))
    expect(invoice.lines.map(({ amountMinor }) => amountMinor)).toEqual([1_000n, 250n, 38n])
    expect(await of.accounts()).toEqual({ receivable: 1_288, revenue: -1_030, tax: -258 })
  })

  test('with a negative total returns its tax', async () => {
    await enterTaxDetails(person('SE'))
    await of.charge(-300)
    expect(await of.waiting()).toBe(-375n)
    expect(await of.accounts()).toEqual({ carried: -375, revenue: 300, tax: 75 })
  })

  test('that is void owes no tax', async () => {
    await enterTaxDetails(person('SE'))
    await of.change(await of.charge(1_000), voidInvoice)
    expect(await of.accounts()).toEqual({})
  })

  test.each([
    ['2025-06-30T23:59:59Z', 220n],
    ['2025-07-01T00:00:00Z', 240n],
  ])('issued at %s has the tax rate of that day', async (at, taxMinor) => {
    await enterTaxDetails(person('EE'))
    const made = await inWork(
      database,
      providerId,
      (work) => of.draft(work, { lines: [price(1_000)] }),
      new Date(at),
    )
    expect(made).toMatchObject({ kind: 'created', invoice: { totalMinor: 1_000n + taxMinor } })
  })
})

describe('a credit note', () => {
  test('credits the tax together with its price, to the last cent', async () => {
    await enterTaxDetails(person('SE'))
    const reference = await of.charge(1_001)
    const notes = []
    for (const minor of [333, 333, 335]) notes.push(await credit(reference, [[0, minor]]))
    // The totals are 83.25, 166.5 and 250.25.
    expect(notes).toMatchObject([
      { note: { totalMinor: 416n, lines: [{ amountMinor: 333n }, { line: 1, amountMinor: 83n }] } },
      { note: { totalMinor: 417n, lines: [{ amountMinor: 333n }, { line: 1, amountMinor: 84n }] } },
      { note: { totalMinor: 418n, lines: [{ amountMinor: 335n }, { line: 1, amountMinor: 83n }] } },
    ])
    expect(await of.look(reference)).toMatchObject({ status: 'paid', creditedMinor: 1_251n })
    expect(await of.accounts()).toEqual({})
  })

  test('credits no more than the prices if they include the tax', async () => {
    await enterTaxDetails(person('SE'))
    const reference = await of.charge(1_250, 'EUR')
    expect(await credit(reference, [[0, 625]])).toMatchObject({
      note: { totalMinor: 625n, lines: [{ amountMinor: 625n }, { amountMinor: 125n }] },
    })
    expect(await of.accounts()).toEqual({ receivable: 625, revenue: -500, tax: -125 })
  })

  test('cannot name the tax line', async () => {
    await enterTaxDetails(person('SE'))
    const reference = await of.charge(1_000)
    expect(await credit(reference, [[1, 100]])).toEqual({ kind: 'line', line: 1, leftMinor: 0n })
  })
})

/* Rounds a fraction half away from zero by its integer part and remainder, unlike the code under test. */
function rounded(numerator: bigint, denominator: bigint): bigint {
  const size = numerator < 0n ? -numerator : numerator
  const whole = size / denominator + (2n * (size % denominator) >= denominator ? 1n : 0n)
  return numerator < 0n ? -whole : whole
}

test('after any charges and credits, the tax is rounded once and the ledger agrees', async () => {
  const rates = { SE: 250n, FI: 255n, DE: 190n, HU: 270n, LU: 170n } as const
  const countries = fc.constantFrom(...(Object.keys(rates) as (keyof typeof rates)[]))
  const charges = fc.array(fc.integer({ min: 1, max: 99_999 }), { minLength: 1, maxLength: 4 })
  const credits = fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 60_000 })), {
    maxLength: 6,
  })
  await fc.assert(
    fc.asyncProperty(
      countries,
      fc.constantFrom('USD', 'EUR'),
      charges,
      credits,
      async (country, currency, amounts, taken) => {
        await begin()
        await enterTaxDetails(person(country))
        const lines = amounts.map((amount) => price(amount))
        const reference = await of.bill({ lines, currency })
        if (amounts.reduce((sum, amount) => sum + amount, 0) < 50) return
        const left = [...amounts]
        for (const [at, minor] of taken) {
          const outcome = await credit(reference, [[at, minor]])
          const isLeft = minor <= (left[at] ?? 0)
          expect(outcome.kind).toBe(isLeft ? 'credited' : 'line')
          if (isLeft) left[at]! -= minor
        }
        const charged = BigInt(amounts.reduce((sum, amount) => sum + amount, 0))
        const kept = BigInt(left.reduce((sum, amount) => sum + amount, 0))
        const rate = rates[country]
        const isInclusive = currency === 'EUR'
        const taxOf = (base: bigint) => rounded(base * rate, isInclusive ? 1_000n + rate : 1_000n)
        const totalOf = (base: bigint) => (isInclusive ? base : base + taxOf(base))
        const invoice = await of.look(reference)
        expect(invoice.totalMinor).toBe(totalOf(charged))
        expect(recomputeInvoice(invoice)).toEqual([])
        const creditedMinor = totalOf(charged - kept)
        expect(invoice.creditedMinor).toBe(creditedMinor)
        const taxKept = taxOf(charged) - taxOf(charged - kept)
        const held = await of.accounts()
        expect(held['tax'] ?? 0).toBe(-Number(taxKept))
        expect(held['receivable'] ?? 0).toBe(Number(invoice.totalMinor - creditedMinor))
        const notes = await inWork(database, providerId, ({ sql }) =>
          listCreditNotes(sql, providerId, reference),
        )
        const creditedTax = notes.reduce(
          (sum, note) => sum + creditedTaxOf(note, invoice.lines),
          0n,
        )
        expect(creditedTax).toBe(taxOf(charged - kept))
        if (kept === 0n) expect(held).toEqual({})
      },
    ),
    randomRuns(40),
  )
})
