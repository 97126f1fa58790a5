import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { listBilledPeriods } from '../src/invoices/billed-periods.ts'
import { listBilledUsage } from '../src/invoices/billed-usage.ts'
import { issueInvoice } from '../src/invoices/issue-invoice.ts'
import { recomputeInvoice } from '../src/invoices/recompute-invoice.ts'
import { listInvoices } from '../src/invoices/repository.ts'
import { periodOf } from '../src/periods/periods.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { lateUsageLines, usageLines } from '../src/pricing/charges.ts'
import { invoiceLine } from '../src/pricing/invoice-line.ts'
import type { PlanSnapshot } from '../src/plans/plan-snapshot.ts'
import { billedAt, createPurchases, inWork, type BilledCustomer } from './billed-customers.ts'
import { invoicing, month, parties, price } from './invoicing.ts'

/* On a real PostgreSQL: invoices that are created and issued, also by concurrent processes and by processes that die. */

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

describe('a period of a purchase', () => {
  test('is billed once by concurrent transactions', async () => {
    const purchases = await createPurchases(database, providerId, 40)
    const runners = Array.from({ length: 8 }, () => purchases)
    const outcomes = await Promise.all(
      runners.map((due) =>
        Promise.all(
          due.map((each) => of.bill({ of: each, lines: [price(1_000)], period: month(0) })),
        ),
      ),
    )
    const made = outcomes.flat().filter((outcome) => outcome !== 'already-billed')
    expect(made).toHaveLength(40)
    const { invoices, total } = await inWork(database, providerId, ({ sql }) =>
      listInvoices(sql, providerId, {}, { limit: 100, offset: 0 }),
    )
    expect(total).toBe(40)
    expect(new Set(invoices.map(({ purchaseRef }) => purchaseRef)).size).toBe(40)
    const numbers = invoices.map(({ number }) => Number(number)).sort((one, other) => one - other)
    expect(numbers).toEqual(Array.from({ length: 40 }, (_, at) => at + 1))
    expect(await of.accounts()).toEqual({ receivable: 40_000, revenue: -40_000 })
  })

  test('cannot overlap a billed period', async () => {
    const day = 86_400_000
    const { start, end } = month(0)
    const at = (from: number, to: number) => ({
      lines: [price(100)],
      period: { start: new Date(+start + from * day), end: new Date(+end + to * day) },
    })
    expect(await of.bill(at(0, 0))).toMatch(/^inv_/)
    expect(await of.bill(at(1, -1))).toBe('already-billed')
    expect(await of.bill(at(-1, 1))).toBe('already-billed')
    expect(await of.bill(at(1, 1))).toBe('already-billed')
    expect(await of.bill({ ...at(0, 0), parts: ['usage'] })).toMatch(/^inv_/)
    expect(await of.bill({ lines: [price(100)], period: month(1) })).toMatch(/^inv_/)
    expect(await of.bill({ lines: [price(100)], period: month(-1) })).toMatch(/^inv_/)
  })

  test('is not billed in part', async () => {
    const period = month(0)
    await of.bill({ lines: [price(100)], period, parts: ['usage'] })
    expect(await of.bill({ lines: [price(100)], period, parts: ['recurring', 'usage'] })).toBe(
      'already-billed',
    )
    expect(await of.bill({ lines: [price(100)], period })).toMatch(/^inv_/)
  })

  test.each(['claimed', 'issued'])(
    'is not billed by a process that dies after it has %s the period',
    async (moment) => {
      const period = month(0)
      const dies = inWork(database, providerId, async (work) => {
        const made = await of.draft(work, { lines: [price(100)], period })
        if (moment === 'issued' && made.kind === 'created') {
          await issueInvoice(work, made.invoice, parties)
        }
        throw new Error('killed')
      })
      await expect(dies).rejects.toThrow('killed')
      expect(await of.accounts()).toEqual({})
      const reference = await of.bill({ lines: [price(100)], period })
      // The returned number is assigned again.
      expect(await of.look(reference)).toMatchObject({ number: 1n })
      const periods = await inWork(database, providerId, ({ sql }) =>
        listBilledPeriods(sql, providerId, customer.purchaseRef, 'recurring', 10),
      )
      expect(periods).toEqual([{ ...period, invoiceRef: reference, billedAt }])
    },
  )

  test('follows the others without gap for any anchor', async () => {
    const anchors = fc
      .integer({ min: 0, max: 4_000_000_000 })
      .map((seconds) => new Date(seconds * 1000))
    const cycles = fc.constantFrom('weekly', 'monthly', 'quarterly', 'yearly')
    await fc.assert(
      fc.asyncProperty(
        anchors,
        cycles,
        fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }),
        async (anchor, billingCycle, order) => {
          const [other] = await createPurchases(database, providerId, 1)
          for (const index of order) {
            const { start, end } = periodOf({ anchor, billingCycle, mode: 'calendar' }, index)
            const outcome = await of.bill({
              of: other!,
              lines: [price(100)],
              period: { start, end },
            })
            expect(outcome).not.toBe('already-billed')
          }
          const periods = await inWork(database, providerId, ({ sql }) =>
            listBilledPeriods(sql, providerId, other!.purchaseRef, 'recurring', 10),
          )
          const inOrder = periods.toReversed()
          expect(inOrder[0]!.start).toEqual(anchor)
          inOrder.slice(1).forEach(({ start }, at) => expect(start).toEqual(inOrder[at]!.end))
        },
      ),
      randomRuns(15),
    )
  })
})

describe('a stored invoice', () => {
  test('keeps the inputs of its prices, and can be computed again', async () => {
    const usage = invoiceLine(
      {
        kind: 'usage',
        terms: {
          limit: '1000',
          freeUnits: '0.5',
          overage: { maxUnits: null },
          rate: {
            kind: 'graduated',
            tiers: [
              { upTo: '500', creditsPerUnit: '50' },
              { upTo: null, creditsPerUnit: '0.000001' },
            ],
          },
        },
        usedUnits: '3333.333333',
        carriedOverUnits: '0',
        conversion: { currency: 'SEK', unitsPerDollar: '9.4637' },
        reading: {
          meterName: 'requests',
          watermark: billedAt.toISOString(),
          nextOffsets: { '3': '77' },
        },
      },
      'Pro, usage',
      month(0),
    )
    const reference = await of.bill({ lines: [price(100_000), usage], currency: 'SEK' })
    const stored = await of.look(reference)
    expect(stored.lines).toEqual([price(100_000), usage])
    expect(usage.residualNumerator).not.toBe(0n)
    expect(stored.totalMinor).toBe(100_000n + usage.amountMinor)
    expect(recomputeInvoice(stored)).toEqual([])
    const altered = {
      ...usage,
      inputs: { ...usage.inputs, usedUnits: '3333.333334' } as typeof usage.inputs,
    }
    expect(recomputeInvoice({ ...stored, lines: [price(100_000), altered] })).toEqual([
      { kind: 'line', line: 1, amountMinor: usage.amountMinor },
    ])
    expect(recomputeInvoice({ ...stored, totalMinor: 1n })).toMatchObject([{ kind: 'total' }])
  })

  test.each([
    [
      'a line',
      'update invoice_lines set amount = amount + 1, exact_numerator = exact_numerator + 1',
    ],
    ['deletion of a line', 'delete from invoice_lines'],
    ['the total', 'update invoices set total = total + 1'],
    ['the number', 'update invoices set number = number + 1'],
    ['the parties', `update invoices set parties = '{}'`],
    ['deletion of the invoice', 'delete from invoices'],
  ])('refuses to change: %s', async (_, statement) => {
    await of.charge(1_000)
    const changed = inWork(database, providerId, ({ sql }) => sql.unsafe(statement))
    await expect(changed).rejects.toThrow('what was charged stays as it is')
  })

  test('is refused if its lines do not sum to its total', async () => {
    const wrong = inWork(database, providerId, async ({ sql }) => {
      await sql`
        insert into invoices (provider_id, reference, status, customer_ref, currency, total, created_at, updated_at)
        values (${providerId}, 'inv_wrong', 'draft', ${customer.customerRef}, 'USD', 1, ${billedAt}, ${billedAt})`
    })
    await expect(wrong).rejects.toThrow('do not add up')
  })
})

test('prices late usage after all usage of its period that was billed before', async () => {
  const plan: PlanSnapshot = {
    reference: 'pln_1',
    name: 'Pro',
    type: 'usage-based',
    priceMinor: 0,
    basePriceMinor: null,
    setupFeeMinor: null,
    currency: 'USD',
    meterRef: 'mtr_1',
    terms: {
      billingModel: 'post-paid',
      usageTiers: [
        { minUsage: 0, maxUsage: 100, creditsPerUnit: 200 },
        { minUsage: 101, creditsPerUnit: 100 },
      ],
    },
  }
  const period = month(0)
  const dollar = { currency: 'USD', unitsPerDollar: '1' }
  const reading = { meterName: 'requests', watermark: billedAt.toISOString(), nextOffsets: {} }
  const of40 = { period, usedMicros: 40_000_000n, carriedOverMicros: 0n, reading }
  const read = () =>
    inWork(database, providerId, async ({ sql }) => {
      const { purchaseRef } = customer
      const billed = await listBilledUsage(sql, providerId, purchaseRef, [period.start])
      return billed.get(period.start.getTime())?.get(null)
    })

  expect(await read()).toBeUndefined()
  await of.bill({ lines: usageLines(plan, dollar, of40), period, parts: ['usage'] })
  expect(await read()).toMatchObject({ usedMicros: 40_000_000n, carriedOverMicros: 0n })
  const late = async (units: bigint) =>
    lateUsageLines(plan, dollar, {
      ...{ period, reading, lateMicros: units * 1_000_000n },
      ...(await read())!,
    })
  const amounts: bigint[] = []
  for (const units of [50n, 20n, 30n]) {
    const lines = await late(units)
    amounts.push(lines[0]!.amountMinor)
    await of.bill({ lines, period: month(amounts.length), parts: ['usage'] })
  }
  // The first 50 priced units end at 90. Of 20 more, 10 are in the second tier, as are all later units.
  expect(amounts).toEqual([100n, 30n, 30n])
  expect(await read()).toMatchObject({ usedMicros: 140_000_000n })
})
