import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { writeOffInvoices } from '../src/closing/write-off-customer.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { lockPurchase } from '../src/purchases/repository.ts'
import { createPurchases, inWork } from './billed-customers.ts'
import { invoicing } from './invoicing.ts'

let testDatabase: TestDatabase

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
})
afterAll(() => testDatabase.stop())

test('writes the invoices of a customer off after the transaction that has locked their purchase', async () => {
  const { database } = testDatabase
  const [customer] = await createPurchases(database, 'prv_locks', 1)
  const { customerRef, purchaseRef } = customer!
  const invoices = invoicing(database, 'prv_locks', customer!)
  const reference = await invoices.charge(1_000)
  const events: string[] = []
  let other = Promise.resolve()
  await new Promise<void>((isLocked, isFailed) => {
    other = inWork(database, 'prv_locks', async ({ sql, providerId }) => {
      await lockPurchase(sql, providerId, purchaseRef)
      isLocked()
      await sleep(300)
      events.push('unlocked')
    })
    other.catch(isFailed)
  })
  await inWork(database, 'prv_locks', async (work) => {
    await writeOffInvoices(work, customerRef)
    events.push('written off')
  })
  await other
  expect(events).toEqual(['unlocked', 'written off'])
  expect(await invoices.look(reference)).toMatchObject({ status: 'uncollectible' })
})
