import { overrideAndCheck } from '@tollgate/control-plane/alerts/override-and-check'
import { setBudget } from '@tollgate/domain/budgets/set-budget'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { CrashingProcess } from '../money/crashing-process.ts'
import { deliverPack } from '../usage-billing/add-pack.ts'
import { AlertShop } from './alert-shop.ts'

/* A limit that packs, overrides or the customer raise within a period is told again when its new size is reached. */

const shop = await AlertShop.start()
afterAll(() => shop.stop())
await shop.open('2026-03-01T10:00:00Z')
await shop.check()
beforeEach(() => shop.open('2026-03-01T10:00:00Z'))

const limited: Partial<PlanCreateInput> = { price: 0, billingCycle: 'monthly', limit: 1_000 }

const charged: Partial<PlanCreateInput> = {
  ...{ type: 'usage-based', billingModel: 'post-paid', billingCycle: 'monthly' },
  charges: [
    { key: 'tokens', meter: 'tokens', model: 'per_unit', price: '1', per: 'period', cap: 1_000 },
  ],
}

const tokens = { meterName: 'tokens' }
const whole = [{ percent: 100 }]

async function addPack(purchase: Purchase, pack: { meter?: string; units: number }, days?: number) {
  const { runner } = shop.stack
  await deliverPack({ runner, shop: shop.shop }, purchase, pack, days)
  await shop.publish(purchase.customerRef)
}

async function setCap({ customerRef }: Purchase, cap: number): Promise<void> {
  const names = { customerRef, productRef: shop.shop.product.reference }
  const charges = [{ charge: 'tokens', cap }]
  const outcome = await shop.stack.runner.within(shop.shop, (work) =>
    overrideAndCheck(work, names, { charges, usageLimits: [] }),
  )
  expect(outcome.kind).toBe('changed')
  await shop.publish(customerRef)
}

/** Returns the threshold and the size of the limit of each event. */
const toldTo = async ({ customerRef }: Purchase): Promise<(number | null)[][]> =>
  (await shop.reached())
    .filter(({ customer }) => customer === customerRef)
    .map((event) => [event.threshold, event.whole])

async function useAndCheck(
  purchase: Purchase,
  units: number,
  options: { readonly meterName?: string } = {},
): Promise<(number | null)[][]> {
  await shop.use(purchase.customerRef, units, options)
  await shop.check()
  return toldTo(purchase)
}

const settle = async (at: string) => {
  await shop.stack.runner.runJob('pack-settlement', at)
}

test.each([
  { plan: limited, meter: undefined, of: 'a plan' },
  { plan: charged, meter: 'tokens', of: 'a charge' },
])('tells each size to which packs raise the cap of $of, once', async ({ plan, meter }) => {
  const meterName = meter ?? 'requests'
  const pack = meter === undefined ? {} : { meter }
  const purchase = await shop.buy(plan)
  await shop.alert([{ percent: 80 }])
  const thousand = [
    [800, 1_000],
    [1_000, 1_000],
  ]
  expect(await useAndCheck(purchase, 1_000, { meterName })).toEqual(thousand)
  await addPack(purchase, { ...pack, units: 500 })
  expect(await useAndCheck(purchase, 199, { meterName })).toEqual(thousand)
  expect(await useAndCheck(purchase, 1, { meterName })).toEqual([...thousand, [1_200, 1_500]])
  const fifteenHundred = [...thousand, [1_200, 1_500], [1_500, 1_500]]
  expect(await useAndCheck(purchase, 300, { meterName })).toEqual(fifteenHundred)
  expect(await useAndCheck(purchase, 5, { meterName })).toEqual(fifteenHundred)
  await addPack(purchase, { ...pack, units: 100 })
  expect(await useAndCheck(purchase, 95, { meterName })).toEqual([
    ...fifteenHundred,
    ...[
      [1_280, 1_600],
      [1_600, 1_600],
    ],
  ])
})

test('tells nothing again when a pack ends and is settled', async () => {
  const purchase = await shop.buy(limited)
  await shop.alert(whole)
  await addPack(purchase, { units: 300 })
  await addPack(purchase, { units: 200 }, 10)
  const told = [[1_500, 1_500]]
  expect(await useAndCheck(purchase, 1_500)).toEqual(told)
  // Until the ended pack is settled, it adds nothing.
  shop.stack.runner.clock.set('2026-03-12T10:00:00Z')
  await shop.publish(purchase.customerRef)
  expect(await useAndCheck(purchase, 1)).toEqual(told)
  await settle('2026-03-12T10:01:00Z')
  await shop.publish(purchase.customerRef)
  expect(await useAndCheck(purchase, 1)).toEqual(told)
})

test('tells a cap that an override sets, also if no usage can follow, and each size once', async () => {
  const purchase = await shop.buy(charged)
  await shop.alert(whole)
  expect(await useAndCheck(purchase, 1_000, tokens)).toEqual([[1_000, 1_000]])
  await setCap(purchase, 1_500)
  expect(await useAndCheck(purchase, 499, tokens)).toEqual([[1_000, 1_000]])
  await setCap(purchase, 1_400)
  await shop.check()
  const lowered = [
    [1_000, 1_000],
    [1_400, 1_400],
  ]
  expect(await toldTo(purchase)).toEqual(lowered)
  await setCap(purchase, 1_500)
  expect(await useAndCheck(purchase, 1, tokens)).toEqual([...lowered, [1_500, 1_500]])
  await setCap(purchase, 1_000)
  expect(await useAndCheck(purchase, 1, tokens)).toEqual([...lowered, [1_500, 1_500]])
})

test('tells each amount to which the customer raises a budget, once', async () => {
  const purchase = await shop.buy(charged)
  const { customerRef } = purchase
  const budget = async (amountMinor: number) => {
    const productRef = shop.shop.product.reference
    const fields = {
      customerRef,
      productRef,
      amountMinor,
      currency: 'USD',
      action: 'stop',
    } as const
    await shop.stack.runner.within(shop.shop, (work) => setBudget(work, fields))
    await shop.check()
    return toldTo(purchase)
  }
  await budget(100)
  expect(await useAndCheck(purchase, 100, tokens)).toEqual([[100, 100]])
  expect(await budget(200)).toEqual([[100, 100]])
  const raised = [
    [100, 100],
    [200, 200],
  ]
  expect(await useAndCheck(purchase, 100, tokens)).toEqual(raised)
  expect(await budget(100)).toEqual(raised)
  expect(await budget(200)).toEqual(raised)
})

test('tells a raised cap once, at whichever step the process dies', async () => {
  await shop.alert(whole)
  let crashes = 0
  for (let atStep = 1; ; atStep += 1) {
    const purchase = await shop.buy(limited)
    await useAndCheck(purchase, 1_000)
    await addPack(purchase, { units: 500 })
    await shop.use(purchase.customerRef, 500)
    const life = new CrashingProcess({ atStep, sendsPendingCall: false })
    await shop.check(life)
    await Promise.all([shop.check(), shop.check()])
    expect(await toldTo(purchase), `died ${life.steps.at(-1)}`).toEqual([
      [1_000, 1_000],
      [1_500, 1_500],
    ])
    if (!life.hasCrashed) break
    crashes += 1
  }
  expect(crashes).toBeGreaterThan(4)
})

/** A cap, packs that do not end, and what must have been told. */
class Model {
  readonly told: string[] = []
  readonly #cap: number
  readonly #percents: readonly number[]
  #month = ''
  #used = 0
  #left = 0
  /** Units that packs could add in the running month. */
  #added = 0
  #highest = new Map<number, number>()

  constructor(cap: number, percents: readonly number[]) {
    this.#cap = cap
    this.#percents = percents
  }

  begin(month: string): void {
    const excess = Math.max(0, this.#used - this.#cap)
    this.#left = Math.max(0, this.#added - excess)
    this.#month = month
    this.#used = 0
    this.#added = this.#left
    this.#highest = new Map()
  }

  use(units: number): void {
    this.#used += units
  }

  add(units: number): void {
    this.#added += units
  }

  check(): void {
    const size = this.#cap + this.#added
    for (const percent of this.#percents) {
      const isReached = this.#used * 100 >= size * percent
      if (!isReached || size <= (this.#highest.get(percent) ?? 0)) continue
      this.#highest.set(percent, size)
      this.told.push(`${this.#month} ${percent}% of ${size}`)
    }
  }
}

const { numRuns: histories, seed } = randomRuns(2, process.env['TOLLGATE_TEST_ALERT_HISTORIES'])

test(`tells what a model tells in random histories (seed ${seed})`, async () => {
  for (let history = 0; history < histories; history += 1) {
    const random = new SeededRandom(seed + history)
    await shop.open('2026-03-01T10:00:00Z')
    const purchase = await shop.buy(limited)
    const { customerRef } = purchase
    await shop.alert([{ percent: 60 }, { percent: 100 }], { customerRef })
    await shop.check()
    const model = new Model(1_000, [60, 100])
    for (const month of ['2026-03', '2026-04', '2026-05']) {
      shop.stack.runner.clock.set(`${month}-02T10:00:00Z`)
      model.begin(month)
      let hour = 10
      const isSettled = random.below(2) === 0
      if (isSettled) await settle(`${month}-02T10:00:00Z`)
      await shop.publish(customerRef)
      for (let act = 0; act < 6; act += 1) {
        shop.stack.runner.clock.set(`${month}-02T${(hour += 1)}:00:00Z`)
        if (random.below(3) === 0) {
          const units = 50 + random.below(400)
          await addPack(purchase, { units })
          model.add(units)
        } else {
          const units = 100 + random.below(500)
          await shop.use(customerRef, units)
          model.use(units)
          if (random.below(3) === 0) continue
          const atStep = random.below(2) === 0 ? 1 + random.below(14) : undefined
          await shop.check(new CrashingProcess({ atStep, sendsPendingCall: false }))
          await shop.check()
          model.check()
        }
      }
      await shop.check()
      model.check()
    }
    const told = (await shop.reached()).map(
      ({ periodStart, percent, whole: size }) =>
        `${new Date(periodStart * 1_000).toISOString().slice(0, 7)} ${percent}% of ${size}`,
    )
    expect(told, `seed ${seed + history}`).toEqual(model.told)
  }
})
