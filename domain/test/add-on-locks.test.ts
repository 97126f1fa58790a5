import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { changeAddOn, createAddOn, type AddOnOutcome } from '../src/catalog/manage-add-ons.ts'
import { insertPlan } from '../src/catalog/plans-repository.ts'
import { lockProduct } from '../src/catalog/products-repository.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { billedAt, inWork } from './billed-customers.ts'
import { createTestPlan } from './test-plan.ts'

/* On a real PostgreSQL: the order in which changes of add-ons lock rows. */

const providerId = 'prv_add_on_locks'
const plan = createTestPlan({ priceMinor: 1_000 })
const { reference: planRef, productRef } = plan

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
  const sql = database.in('sandbox')
  await sql`
    insert into products (provider_id, reference, name, status, created_at, updated_at)
    values (${providerId}, ${productRef}, 'API', 'active', ${billedAt}, ${billedAt})`
  await insertPlan(sql, providerId, plan)
})
afterAll(() => testDatabase.stop())

test('a change that waits for the product has not locked the add-on', async () => {
  const addOnRef = await createSupport()
  const sql = database.in('sandbox')
  let change: Promise<AddOnOutcome> | undefined
  await sql.begin(async (holder) => {
    await lockProduct(holder, providerId, productRef)
    change = inWork(database, providerId, (work) =>
      changeAddOn(work, { productRef, addOnRef }, { planRefs: [planRef], priceMinor: 600 }),
    )
    while (!(await isWaiting())) await sleep(10)
    // An attachment can lock it, which holds its customer that the holder of the product may wait for.
    const free = await sql.begin(
      (other) => other`select from add_ons where reference = ${addOnRef} for update nowait`,
    )
    expect(free).toHaveLength(1)
  })
  expect(await change).toMatchObject({ kind: 'stored', addOn: { priceMinor: 600 } })
})

async function createSupport(): Promise<string> {
  const outcome = await inWork(database, providerId, (work) =>
    createAddOn(work, productRef, {
      ...{ name: 'Support', description: null, priceMinor: 500, setupFeeMinor: 0 },
      ...{ quantityMax: null, raises: [], planRefs: [planRef] },
    }),
  )
  if (outcome.kind !== 'stored') throw new Error(outcome.kind)
  return outcome.addOn.reference
}

async function isWaiting(): Promise<boolean> {
  return (await database.in('sandbox')`select from pg_locks where not granted`).length > 0
}
