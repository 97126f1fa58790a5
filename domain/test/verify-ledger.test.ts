import type { TransactionSql } from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database, Queryable } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { payInvoice, writeOffInvoice } from '../src/invoices/settle-invoice.ts'
import { listLedgerSeals } from '../src/money-ledger/ledger-seals.ts'
import { sealLedger } from '../src/money-ledger/seal-ledger.ts'
import {
  listUnbalancedCreditValues,
  listUnbalancedInvoices,
  listUnbalancedTransactions,
} from '../src/money-ledger/unbalanced.ts'
import { findBrokenSeal } from '../src/money-ledger/verify-seals.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { createPurchases, type BilledCustomer } from './billed-customers.ts'
import { invoicing } from './invoicing.ts'

/* On a real PostgreSQL: what ledger checks find after the owner of the tables has altered postings. */

let testDatabase: TestDatabase
let database: Database
let owner: Database
let providers = 0
let providerId: string
let customer: BilledCustomer
let of: ReturnType<typeof invoicing>

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
  owner = createPostgresDatabase({ url: testDatabase.url, isOwner: true, poolMax: 1 })
})
afterAll(async () => {
  await owner.close()
  await testDatabase.stop()
})
beforeEach(async () => {
  providers += 1
  providerId = `prv_verify_${providers}`
  const [created] = await createPurchases(database, providerId, 1)
  customer = created!
  of = invoicing(database, providerId, customer)
})

const pay = (reference: string, amountMinor: bigint) =>
  of.change(reference, (work, invoice) =>
    payInvoice(work, invoice, { chargeRef: `ch_${reference}`, amountMinor }),
  )

const seal = () => sealLedger(database.in('sandbox'), 0n, new Date())
const broken = () => findBrokenSeal(database.in('sandbox'), providerId)

describe('seals', () => {
  test('cover all postings, in as many rounds as needed, and nothing twice', async () => {
    for (let round = 0; round < 3; round += 1) {
      await pay(await of.charge(1_000), 1_000n)
      await seal()
      await seal()
    }
    const seals = await listLedgerSeals(database.in('sandbox'), providerId, 0n, 100)
    expect(seals.map(({ transactions }) => transactions)).toEqual([2n, 2n, 2n])
    expect(await broken()).toBeUndefined()
  })

  test('are created once by concurrent processes', async () => {
    for (let n = 0; n < 5; n += 1) await of.charge(1_000)
    await Promise.all([1, 2, 3, 4].map(seal))
    const seals = await listLedgerSeals(database.in('sandbox'), providerId, 0n, 100)
    expect(seals.reduce((sum, { transactions }) => sum + transactions, 0n)).toBe(5n)
    expect(await broken()).toBeUndefined()
  })

  test.each<[string, (sql: TransactionSql) => Promise<unknown>]>([
    [
      'an amount that was altered',
      (sql) => sql`
        update ledger_entries set amount = amount * 2 where provider_id = ${providerId}`,
    ],
    [
      'an entry that was removed',
      (sql) => sql`
        delete from ledger_entries where provider_id = ${providerId} and account = 'revenue'`,
    ],
    [
      'a transaction that was altered',
      (sql) => sql`
        update ledger_transactions set reason = 'other' where provider_id = ${providerId}`,
    ],
    [
      'an entry that was added',
      (sql) => sql`
        insert into ledger_entries
          (provider_id, transaction_ref, line, account, customer_ref, unit, amount)
        select provider_id, transaction_ref, 9, 'tax', customer_ref, unit, 1 from ledger_entries
        where provider_id = ${providerId} and line = 0`,
    ],
    [
      'a seal that was removed',
      (sql) => sql`delete from ledger_seals where provider_id = ${providerId} and number = 1`,
    ],
  ])('detect %s', async (_, tamper) => {
    await of.charge(1_000)
    await seal()
    await of.charge(2_000)
    await seal()
    expect(await broken()).toBeUndefined()
    expect(await foundAfter(tamper, (sql) => findBrokenSeal(sql, providerId))).toBeDefined()
  })
})

test('finds an invoice that differs from the ledger, and no other', async () => {
  const invoices = () => listUnbalancedInvoices(database.in('sandbox'), 100)
  const [open, part, paid, lost] = [
    await of.charge(1_000),
    await of.charge(2_000),
    await of.charge(3_000),
    await of.charge(4_000),
  ]
  await of.charge(20)
  await pay(part, 500n)
  await pay(paid, 3_000n)
  await of.change(lost, writeOffInvoice)
  expect(await invoices()).toEqual([])
  const found = await foundAfter(
    (sql) => sql`
      update invoices set paid = 1
      where provider_id = ${providerId} and reference in (${open}, ${lost})`,
    (sql) => listUnbalancedInvoices(sql, 100),
  )
  const differences = found.map((each): [string, bigint[]] => {
    const { invoiceRef, dueMinor, receivableMinor, writtenOffMinor, entriesWrittenOffMinor } = each
    return [invoiceRef, [dueMinor - receivableMinor, writtenOffMinor - entriesWrittenOffMinor]]
  })
  expect(new Map(differences)).toEqual(
    new Map([
      [open, [-1n, 0n]],
      [lost, [0n, -1n]],
    ]),
  )
})

test('finds credits whose value differs from the amount owed', async () => {
  await of.charge(1_000)
  const sql = database.in('sandbox')
  expect(await listUnbalancedCreditValues(sql, 100)).toEqual([])
  expect(await listUnbalancedTransactions(sql, 100)).toEqual([])
  const tamper = (all: TransactionSql) => all`
    update ledger_entries set account = 'prepaid', amount = amount - 5
    where provider_id = ${providerId} and account = 'revenue'`
  expect(await foundAfter(tamper, (all) => listUnbalancedCreditValues(all, 100))).toMatchObject([
    { grantsMinor: 0n, prepaidMinor: 1_005n, currency: 'USD' },
  ])
  expect(await foundAfter(tamper, (all) => listUnbalancedTransactions(all, 100))).toMatchObject([
    { unit: 'USD', sum: '-5' },
  ])
})

const undone = new Error('undone')

/** Returns the findings after the owner of the tables has changed something. The change is rolled back. */
async function foundAfter<Found>(
  tamper: (sql: TransactionSql) => Promise<unknown>,
  look: (sql: Queryable) => Promise<Found>,
): Promise<Found> {
  let found: Found | undefined
  const attempt = owner.in('sandbox').begin(async (sql) => {
    for (const table of ['ledger_transactions', 'ledger_entries', 'ledger_seals', 'invoices']) {
      await sql`alter table ${sql(table)} disable trigger user`
    }
    await tamper(sql)
    found = await look(sql)
    throw undone
  })
  await expect(attempt).rejects.toBe(undone)
  return found!
}
