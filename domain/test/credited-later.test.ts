import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Queryable } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { readCreditedLater } from '../src/invoices/credited-later.ts'
import { listBilledUsage } from '../src/invoices/billed-usage.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { invoiceLine, type InvoiceLine } from '../src/pricing/invoice-line.ts'
import { createPurchases, inWork } from './billed-customers.ts'
import { invoicing, month } from './invoicing.ts'

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

function counting(sql: Queryable, count: { statements: number }): Queryable {
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
  const { bill, later, providerId, purchaseRef } = await purchase()
  const first = await bill([usage(300)])
  const statements: number[] = []
  for (let made = 0; made < 30; made += 1) {
    await bill([usage(100, (made + 1) % 6), usage(-50, made % 6)])
    const count = { statements: 0 }
    expect(await later(first, count)).toBeGreaterThanOrEqual(0)
    statements.push(count.statements)
  }
  expect(new Set(statements).size).toBe(1)
  const starts = Array.from({ length: 6 }, (_, of) => month(of).start)
  await inWork(testDatabase.database, providerId, ({ sql }) =>
    listBilledUsage(sql, providerId, purchaseRef, starts),
  )
})
