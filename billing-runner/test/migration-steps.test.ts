import { afterAll, beforeEach, expect, test } from 'vitest'
import { deleteCustomer } from '@tollgate/domain/deletion/delete-customer'
import { advanceMigration } from '@tollgate/domain/plan-migrations/advance-migration'
import { countItems, listItems } from '@tollgate/domain/plan-migrations/items-repository'
import { moveMigration } from '@tollgate/domain/plan-migrations/move-migration'
import type { MigrationMove } from '@tollgate/domain/plan-migrations/plan-migration'
import { findMigration } from '@tollgate/domain/plan-migrations/repository'
import type { Plan } from '@tollgate/domain/plans/plan'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import { startRunnerStack, type Shop } from './runner-stack.ts'
import { TermsPlayer } from './terms-player.ts'

/* One call of the job that advances a migration, and what happens between its transactions. */

const stack = await startRunnerStack()
afterAll(() => stack.stop())

const at = '2026-02-10T12:00:00Z'
const limits = { pageMax: 10, inFlightMax: 1 }

let shop: Shop
let player: TermsPlayer
let held: Plan
/** In the order in which they are processed. */
let holders: { readonly reference: string; readonly customerRef: string }[]

beforeEach(async () => {
  stack.clock.set('2026-01-31T12:00:00Z')
  shop = await stack.openShop()
  player = new TermsPlayer(stack, shop)
  held = await stack.addPlan(shop, { name: 'Held', billingCycle: 'monthly', price: 1_900 })
  const bought = [await stack.buy(shop, held), await stack.buy(shop, held)]
  holders = bought.toSorted((one, other) => (one.reference < other.reference ? -1 : 1))
  stack.clock.set(at)
  await player.changePrice(held.reference, 4_900)
  await player.migrate(held.reference, { when: 'renewal', notice: false })
})

/** Advances the newest migration. `before` runs before each transaction, which has a number from 1 on. */
function advance(
  before: (transaction: number) => Promise<void> = async () => {},
  pageMax = limits.pageMax,
): Promise<boolean> {
  let transaction = 0
  const commit = async <Result>(body: (work: UnitOfWork) => Promise<Result>): Promise<Result> => {
    transaction += 1
    await before(transaction)
    return stack.within(shop, body)
  }
  const context = { now: new Date(at), commit }
  return advanceMigration(context, player.migrations.at(-1)!, { ...limits, pageMax })
}

function move(reference: string, to: MigrationMove) {
  return stack.within(shop, (work) => moveMigration(work, reference, to))
}

async function statusOf(reference = player.migrations.at(-1)!): Promise<string | undefined> {
  const sql = stack.database.in('sandbox')
  return (await findMigration(sql, shop.providerId, reference))?.status
}

async function progress(): Promise<Record<string, number>> {
  const sql = stack.database.in('sandbox')
  const counts = await countItems(sql, shop.providerId, player.migrations.at(-1)!)
  return Object.fromEntries(counts)
}

test.each([10, 2])(
  'a pause that ends within a page of at most %d leaves out no purchase',
  async (pageMax) => {
    // The first transaction reads the page, and the next two process its purchases.
    await advance(async (transaction) => {
      if (transaction === 2) await player.moveNewest('pause')
      if (transaction === 4) await player.moveNewest('resume')
    }, pageMax)
    if ((await statusOf()) === 'paused') await player.moveNewest('resume')
    await advance(undefined, pageMax)
    await advance(undefined, pageMax)
    expect(await statusOf()).toBe('done')
    expect(await progress()).toEqual({ scheduled: 2 })
  },
)

test('a purchase that fails once is tried again', async () => {
  await advance(async (transaction) => {
    if (transaction === 2) throw new Error('the connection is lost')
  })
  expect(await progress()).toEqual({ scheduled: 2 })
})

test('a purchase that fails repeatedly is skipped, and the others are moved', async () => {
  const [first] = holders
  const advancing = advance(async (transaction) => {
    if (transaction === 2 || transaction === 4) throw new Error('a row is damaged')
  })
  await expect(advancing).rejects.toThrow(first!.reference)
  expect(await statusOf()).toBe('done')
  expect(await progress()).toEqual({ scheduled: 1, skipped: 1 })
  const sql = stack.database.in('sandbox')
  const page = { limit: 10, offset: 0 }
  const migration = player.migrations.at(-1)!
  const skipped = await listItems(sql, shop.providerId, migration, 'skipped', page)
  expect(skipped).toMatchObject([{ purchaseRef: first!.reference, reason: 'failed' }])
})

test('a database that is away skips nothing, and the page is processed again', async () => {
  const advancing = advance(async (transaction) => {
    if (transaction > 1) throw new Error('the database is away')
  })
  await expect(advancing).rejects.toThrow('the database is away')
  await advance()
  expect(await statusOf()).toBe('done')
  expect(await progress()).toEqual({ scheduled: 2 })
})

test('a change that cannot be withdrawn keeps its migration in cancellation', async () => {
  await advance()
  await player.moveNewest('cancel')
  const advancing = advance(async (transaction) => {
    if (transaction === 2) throw new Error('a row is damaged')
  })
  await expect(advancing).rejects.toThrow(holders[0]!.reference)
  expect(await statusOf()).toBe('cancelling')
  expect(await progress()).toEqual({ scheduled: 1, withdrawn: 1 })
  await advance()
  expect(await statusOf()).toBe('cancelled')
  expect(await progress()).toEqual({ withdrawn: 2 })
})

test('a cancellation ends although the customers are deleted', async () => {
  await advance()
  for (const { customerRef } of holders) {
    await stack.within(shop, (work) => deleteCustomer(work, customerRef))
  }
  await player.moveNewest('cancel')
  for (let page = 0; page < 3; page += 1) await advance(undefined, 1)
  expect(await statusOf()).toBe('cancelled')
})

test('a purchase that ended before the cancellation forgets the change, if a refund restores it', async () => {
  await advance()
  const { reference } = holders[0]!
  await stack.database.in('sandbox')`
    update purchases set status = 'expired', ended_at = ${at} where reference = ${reference}`
  await player.moveNewest('cancel')
  await advance()
  expect(await stack.purchase(shop, reference)).toMatchObject({
    status: 'expired',
    scheduledPlan: null,
    scheduledPlanAt: null,
  })
})

test('a migration that is done is not cancelled beside another one of its plan', async () => {
  const [first] = player.migrations
  await advance()
  await player.changePrice(held.reference, 5_900)
  await player.migrate(held.reference, { when: 'renewal', notice: false })
  expect(await move(first!, 'cancel')).toMatchObject({ kind: 'another-running' })
  await advance()
  expect(await statusOf()).toBe('done')
  expect(await move(first!, 'cancel')).toMatchObject({ kind: 'moved' })
})
