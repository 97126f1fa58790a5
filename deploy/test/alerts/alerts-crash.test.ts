import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import { changeAlert } from '@tollgate/domain/alerts/manage-alerts'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { CrashingProcess } from '../money/crashing-process.ts'
import { AlertShop } from './alert-shop.ts'

/* Alerts are emitted once, at whichever effect the process that compares usage dies, and in random histories. */

const shop = await AlertShop.start()
afterAll(() => shop.stop())
// A service stores the positions of a new installation at its start, before anybody can create an alert.
await shop.open('2026-03-01T10:00:00Z')
await shop.check()
beforeEach(() => shop.open('2026-03-01T10:00:00Z'))

const limited: Partial<PlanCreateInput> = { price: 0, billingCycle: 'monthly', limit: 1_000 }

const reachedOf = async (customerRef: string) =>
  (await shop.reached()).filter(({ customer }) => customer === customerRef)

test('emits each threshold once, at whichever step the process dies', async () => {
  await shop.alert([{ percent: 50 }, { percent: 80 }])
  let crashes = 0
  for (let atStep = 1; ; atStep += 1) {
    const { customerRef } = await shop.buy(limited)
    await shop.use(customerRef, 1_000)
    const life = new CrashingProcess({ atStep, sendsPendingCall: false })
    await shop.check(life)
    await shop.check()
    await shop.check()
    const percents = (await reachedOf(customerRef)).map(({ percent }) => percent)
    expect(percents, `died ${life.steps.at(-1)}`).toEqual([50, 80, 100])
    if (!life.hasCrashed) break
    crashes += 1
  }
  expect(crashes).toBeGreaterThan(4)
  expect(await shop.sql`select 1 from alert_checks`).toEqual([])
})

test('emits each threshold once if several processes check the same customers', async () => {
  await shop.alert([{ percent: 50 }])
  const refs: string[] = []
  for (let each = 0; each < 6; each += 1) refs.push((await shop.buy(limited)).customerRef)
  for (const units of [500, 400, 100]) {
    await Promise.all(refs.map((customerRef) => shop.use(customerRef, units)))
    await Promise.all([shop.check(), shop.check(), shop.check()])
  }
  await shop.check()
  for (const customerRef of refs) {
    expect((await reachedOf(customerRef)).map(({ percent }) => percent)).toEqual([50, 100])
  }
})

/** The model: usage by period, the percents in effect, and what must have been emitted. */
class Model {
  percents: readonly number[] = [50]
  readonly emitted = new Set<string>()
  readonly #used = new Map<string, number>()
  #touched = new Set<string>()

  use(month: string, units: number): void {
    this.#used.set(month, (this.#used.get(month) ?? 0) + units)
    this.#touched.add(month)
  }

  touch(month: string): void {
    this.#touched.add(month)
  }

  check(): void {
    for (const month of this.#touched) {
      const used = this.#used.get(month) ?? 0
      const reached = [...this.percents, 100].filter((percent) => used * 100 >= percent * 1_000)
      if (this.percents.length > 0) for (const each of reached) this.emitted.add(`${month} ${each}`)
    }
    this.#touched = new Set()
  }
}

const { numRuns: histories, seed } = randomRuns(2, process.env['TOLLGATE_TEST_ALERT_HISTORIES'])

test(`agrees with a model in random histories (seed ${seed})`, { timeout: 120_000 }, async () => {
  for (let history = 0; history < histories; history += 1) {
    const random = new SeededRandom(seed + history)
    await shop.open('2026-03-01T10:00:00Z')
    const { customerRef } = await shop.buy(limited)
    const model = new Model()
    await shop.alert([{ percent: 50 }], { customerRef })
    const reference = await referenceOfAlert()
    const months = ['2026-03', '2026-04', '2026-05', '2026-06']
    let month = 0
    model.touch(months[0]!)
    for (let act = 0; act < 18; act += 1) {
      const now = `${months[month]}-05T10:00:00Z`
      switch (random.below(6)) {
        case 0:
        case 1: {
          const units = 50 + random.below(300)
          model.use(months[month]!, units)
          await shop.use(customerRef, units, { at: now })
          break
        }
        case 2: {
          // Usage of the previous period arrives late.
          const late = Math.max(0, month - 1)
          const units = 50 + random.below(300)
          model.use(months[late]!, units)
          await shop.use(customerRef, units, { at: `${months[late]}-20T10:00:00Z` })
          break
        }
        case 3: {
          if (month + 1 === months.length) break
          month += 1
          shop.stack.runner.clock.set(`${months[month]}-05T10:00:00Z`)
          await shop.publish(customerRef)
          break
        }
        case 4: {
          model.percents = [[50], [80, 90], [20, 100], []][random.below(4)]!
          const thresholds = model.percents.map((percent) => ({ percent }))
          await shop.stack.runner.within(shop.shop, (work) =>
            changeAlert(work, reference, thresholds),
          )
          model.touch(months[month]!)
          break
        }
        default: {
          const atStep = random.below(3) === 0 ? 1 + random.below(14) : undefined
          await shop.check(new CrashingProcess({ atStep, sendsPendingCall: false }))
          await shop.check()
          model.check()
        }
      }
    }
    await shop.check()
    model.check()
    const events = (await shop.reached()).map(
      ({ periodStart, percent }) => `${monthOf(periodStart)} ${percent}`,
    )
    expect(new Set(events).size, `seed ${seed + history}`).toBe(events.length)
    expect(events.toSorted(), `seed ${seed + history}`).toEqual([...model.emitted].toSorted())
  }
})

async function referenceOfAlert(): Promise<string> {
  const [row] = await shop.sql<{ reference: string }[]>`
    select reference from alerts where provider_id = ${shop.shop.providerId}`
  return row!.reference
}

function monthOf(unixSeconds: number): string {
  return new Date(unixSeconds * 1_000).toISOString().slice(0, 7)
}
