import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Queryable } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { readCreditedLater } from '../src/invoices/credited-later.ts'
import { listBilledUsage } from '../src/invoices/billed-usage.ts'
import { voidInvoice } from '../src/invoices/settle-invoice.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { invoiceLine, type InvoiceLine } from '../src/pricing/invoice-line.ts'
import { createPurchases, inWork } from './billed-customers.ts'
import { invoicing, month, price } from './invoicing.ts'

/* On a real PostgreSQL: what later bills have credited of the usage of a bill. All bills are made at the same moment. */

let testDatabase: TestDatabase
let providers = 0

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
})
afterAll(() => testDatabase.stop())

/** Returns a line that charges the amount for usage of a month, or credits it. */
function usage(amountMinor: number, of = 0): InvoiceLine {
  const inputs = {
    kind: 'minimum',
    ...{ secondsCharged: 1, secondsInPeriod: 1, countedMinor: '0' },
    minimumMinor: String(Math.max(amountMinor, 0)),
    billedMinor: String(Math.max(-amountMinor, 0)),
  } as const
  return invoiceLine(inputs, 'usage', month(of))
}

async function purchase() {
  const providerId = `prv_${providers++}`
  const [customer] = await createPurchases(testDatabase.database, providerId, 1)
  const of = invoicing(testDatabase.database, providerId, customer!)
  const bill = (lines: readonly InvoiceLine[]) => of.bill({ lines, parts: [] })
  const later = async (reference: string, count?: { statements: number }) => {
    const invoice = await of.look(reference)
    const credited = await inWork(testDatabase.database, providerId, ({ sql }) =>
      readCreditedLater(count === undefined ? sql : counting(sql, count), providerId, invoice),
    )
    return Number(credited.amountMinor)
  }
  return { bill, later, providerId, purchaseRef: customer!.purchaseRef, of }
}

function counting<Sql extends Queryable>(sql: Sql, count: { statements: number }): Sql {
  return new Proxy(sql, {
    apply: (target, self, args: [TemplateStringsArray, ...unknown[]]) => {
      // Fragments and lists of values are parts of a statement.
      if (/^\s*(select|with)/.test(args[0].raw?.[0] ?? '')) count.statements += 1
      return Reflect.apply(target, self, args) as unknown
    },
  })
}

test('bills of the same moment count in the order in which they were made', async () => {
  for (let round = 0; round < 8; round += 1) {
    const { bill, later } = await purchase()
    const one = await bill([usage(300)])
    await bill([usage(-300)])
    const late = await bill([usage(200)])
    expect(await later(one)).toBe(300)
    expect(await later(late)).toBe(0)
    await bill([usage(-200)])
    expect(await later(late)).toBe(200)
  }
})

test('the bills of a purchase are read with the same statements, however many there are', async () => {
  const { bill, later } = await purchase()
  const first = await bill([usage(300)])
  const statements: number[] = []
  for (let made = 0; made < 30; made += 1) {
    await bill([usage(100, (made + 1) % 6), usage(-50, made % 6)])
    const count = { statements: 0 }
    // Every later credit of its period can be of one of the other bills.
    expect(await later(first, count)).toBe(50)
    statements.push(count.statements)
  }
  expect(new Set(statements).size).toBe(1)
})

/** Returns a line that charges units at 1 cent each, or the change of usage of an earlier bill. */
function metered(units: number, of: number, earlier?: number): InvoiceLine {
  const charge = {
    terms: {
      ...{ limit: null, freeUnits: '0' },
      rate: { kind: 'flat', creditsPerUnit: '100' },
    },
    ...{ carriedOverUnits: '0', conversion: { currency: 'USD', unitsPerDollar: '1' } },
    reading: { meterName: 'requests', watermark: '2026-07-01T00:00:00.000Z', nextOffsets: {} },
  } as const
  const [usedUnits, lateUnits] = [String(earlier), String(units)]
  return earlier === undefined
    ? invoiceLine({ ...charge, kind: 'usage', usedUnits: lateUnits }, 'usage', month(of))
    : invoiceLine({ ...charge, kind: 'late_usage', usedUnits, lateUnits }, 'late', month(of))
}

test('billed usage is read with the same statements, however many bills were given up', async () => {
  const { bill, providerId, purchaseRef, of } = await purchase()
  await bill([metered(300, 0)])
  const statements: number[] = []
  for (let made = 1; made <= 10; made += 1) {
    const late = metered(-10, 0, 310 - 10 * made)
    await of.change(await bill([late, metered(100, made)]), voidInvoice)
    const count = { statements: 0 }
    const starts = [month(0).start, month(made).start]
    const billed = await inWork(testDatabase.database, providerId, ({ sql }) =>
      listBilledUsage(counting(sql, count), providerId, purchaseRef, starts),
    )
    const amounts = starts.map((start) => {
      const { usedMicros, amountMinor, givenUpMinor } = billed.get(start.getTime())!.get(null)!
      return [usedMicros / 1_000_000n, amountMinor, givenUpMinor]
    })
    const left = BigInt(300 - 10 * made)
    expect(amounts).toEqual([
      [left, left, undefined],
      [100n, 100n, 100n],
    ])
    statements.push(count.statements)
  }
  expect(new Set(statements).size).toBe(1)
})

test('voiding a bill gives its credits back with the same statements, however many bills it credited', async () => {
  const statements: number[] = []
  for (const others of [2, 20]) {
    const { bill, of } = await purchase()
    const first = await bill([usage(100)])
    for (let made = 0; made < others; made += 1) await bill([usage(100, 1)])
    const holder = await bill([usage(-50), usage(-others, 1), price(500)])
    await of.change(first, voidInvoice)
    expect(await of.waiting()).toBe(50n)
    const count = { statements: 0 }
    await of.change(holder, (work, invoice) =>
      voidInvoice({ ...work, sql: counting(work.sql, count) }, invoice),
    )
    expect(await of.waiting()).toBe(0n)
    statements.push(count.statements)
  }
  expect(statements[0]).toBe(statements[1])
})
