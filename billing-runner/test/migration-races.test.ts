import { afterAll, expect, test } from 'vitest'
import { listItems } from '@tollgate/domain/plan-migrations/items-repository'
import { listPurchases, type Purchase } from '@tollgate/domain/purchases/repository'
import { startRunnerStack } from './runner-stack.ts'
import { TermsPlayer } from './terms-player.ts'

/* Two billing runners move the holders of a plan, while half of the customers change the plan themselves. */

const stack = await startRunnerStack()
afterAll(() => stack.stop())

const holdersMax = 40
const at = '2026-02-10T12:00:00Z'

test.each(['prorate', 'keep_period'] as const)(
  'with %s, each customer has one plan: the chosen one, or the new terms',
  async (billing) => {
    stack.clock.set('2026-01-31T12:00:00Z')
    const shop = await stack.openShop()
    const player = new TermsPlayer(stack, shop)
    const monthly = { type: 'recurring', billingCycle: 'monthly' } as const
    const held = await stack.addPlan(shop, { ...monthly, name: 'Held', price: 1_900 })
    const cheaper = await stack.addPlan(shop, { ...monthly, name: 'Cheaper', price: 900 })
    const purchases: Purchase[] = []
    for (let count = 0; count < holdersMax; count += 1) purchases.push(await stack.buy(shop, held))
    stack.clock.set(at)
    await player.changePrice(held.reference, 1_500)
    await player.migrate(held.reference, { when: 'now', billing, notice: 0 })
    const choosing = purchases.filter((_, index) => index % 2 === 0)
    const settings = {
      TOLLGATE_PLAN_MIGRATION_PAGE_MAX: '7',
      TOLLGATE_BILLING_ITEMS_IN_FLIGHT_MAX: '4',
    }
    const runner = async (): Promise<void> => {
      for (let round = 0; round < 3; round += 1) {
        await stack.runJob('plan-migrations', at, undefined, settings)
        await stack.runJob('plan-changes', at, undefined, settings)
      }
    }
    await Promise.all([
      runner(),
      runner(),
      ...choosing.map(({ customerRef }) => player.activate(customerRef, cheaper.reference)),
    ])
    await runner()
    const sql = stack.database.in('sandbox')
    const items = await listItems(sql, shop.providerId, player.migrations[0]!, undefined, {
      ...{ limit: 1_000, offset: 0 },
    })
    const moved = items.filter(({ status }) => status === 'moved')
    expect(new Set(moved.map(({ movedTo }) => movedTo)).size).toBe(moved.length)
    for (const { customerRef } of purchases) {
      const all = await listPurchases(sql, shop.providerId, { customerRef, rowsMax: 10 })
      const active = all.filter(({ status }) => status === 'active')
      expect(active).toHaveLength(1)
      const isChosen = choosing.some((each) => each.customerRef === customerRef)
      expect(active[0]).toMatchObject(
        isChosen
          ? { planRef: cheaper.reference }
          : { planRef: held.reference, planSnapshot: { priceMinor: 1_500 } },
      )
      // Each purchase is replaced once, so the purchases of a customer are one chain.
      const replaced = all.flatMap(({ replaces }) => (replaces === null ? [] : [replaces]))
      expect(new Set(replaced).size).toBe(all.length - 1)
      const movedOnce = moved.filter((item) => item.customerRef === customerRef)
      expect(movedOnce.length).toBeLessThanOrEqual(1)
      expect(all.length).toBe(1 + movedOnce.length + (isChosen ? 1 : 0))
    }
  },
)
