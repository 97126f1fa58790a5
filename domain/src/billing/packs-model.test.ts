import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planOf } from '../../test/allowance-world.ts'
import { PackWorld } from '../../test/pack-world.ts'

/*
 * Random histories of plans, packs, usage, refunds, won disputes and settlements that run early or late. Whatever the order: no unit is
 * used twice, nothing is admitted beyond what was bought, and invoices charge exactly what packs do not pay for.
 */

const runs = Number(process.env['TOLLGATE_TEST_PACK_RUNS'] ?? 400)

const capped = (limit: number, priceMinor: number) =>
  planOf('recurring', priceMinor, { limit, prorationPolicy: 'proportional' })
const restarted = (limit: number) => planOf('recurring', 1_900, { limit, prorationPolicy: 'full' })
const plans = [capped(100, 1_900), capped(150, 2_500), restarted(80), restarted(120)]
const hybrid = planOf('hybrid', 4_900, {
  limit: 100,
  overagePolicy: { allowOverage: true, overageRate: 100 },
})

type Step = (world: PackWorld) => unknown

const use = fc.integer({ min: 1, max: 80 }).map(
  (units): Step =>
    (world) =>
      world.use(units),
)
const wait = fc.integer({ min: 1, max: 240 }).map(
  (hours): Step =>
    (world) =>
      world.wait(hours / 8),
)
const settle = fc.constant<Step>((world) => world.settle())
const buy = fc
  .record({
    units: fc.integer({ min: 1, max: 60 }),
    days: fc.option(fc.integer({ min: 1, max: 50 })),
  })
  .map(
    ({ units, days }): Step =>
      (world) =>
        world.buyPack(units, days ?? undefined),
  )
const buyForever = fc.integer({ min: 1, max: 60 }).map(
  (units): Step =>
    (world) =>
      world.buyPack(units),
)
const change = fc.constantFrom(...plans).map(
  (plan): Step =>
    (world) =>
      world.take(plan),
)
const refund = fc.record({ index: fc.nat(5), percent: fc.integer({ min: 1, max: 100 }) }).map(
  ({ index, percent }): Step =>
    (world) =>
      world.refund(index, percent),
)
const giveBack = fc.nat(5).map(
  (index): Step =>
    (world) =>
      world.giveBack(index),
)
const record = fc
  .record({ units: fc.integer({ min: 1, max: 90 }), daysAgo: fc.integer({ min: 0, max: 40 }) })
  .map(
    ({ units, daysAgo }): Step =>
      (world) =>
        world.record(units, daysAgo),
  )
const bill = fc.constant<Step>((world) => world.settle().bill())

/** Between two steps time passes, so that no two purchases begin in one second. */
function run(world: PackWorld, steps: readonly Step[]): PackWorld {
  for (const step of steps) {
    world.wait(1 / 24)
    step(world)
    for (const { unitsMicros, usedMicros, takenMicros } of world.account.packs) {
      expect(usedMicros + takenMicros).toBeLessThanOrEqual(unitsMicros)
    }
  }
  return world
}

const sum = (amounts: Iterable<number>) => [...amounts].reduce((total, each) => total + each, 0)
const unitsOf = (micros: bigint) => Number(micros) / 1_000_000
const bought = ({ account }: PackWorld) =>
  sum(account.packs.map(({ unitsMicros }) => unitsOf(unitsMicros)))
const used = ({ account }: PackWorld) => sum(account.uses.map(({ micros }) => unitsOf(micros)))
const taken = ({ account }: PackWorld) =>
  sum(account.packs.map(({ takenMicros }) => unitsOf(takenMicros)))

test('never admits more than the plans and the packs provide', () => {
  const steps = fc.array(fc.oneof(use, use, wait, settle, buy, change, refund, giveBack), {
    maxLength: 40,
  })
  fc.assert(
    fc.property(steps, (given) => {
      const world = run(new PackWorld().take(plans[0]!), given)
      world.wait(60).settle()
      expect(world.admitted).toBeLessThanOrEqual(sum(world.own.values()) + used(world))
      expect(used(world) + taken(world)).toBeLessThanOrEqual(bought(world))
    }),
    { numRuns: runs },
  )
})

test('loses no unit of a pack that does not expire, over renewals and changes of plan', () => {
  const steps = fc.array(fc.oneof(use, wait, settle, buyForever, change), { maxLength: 40 })
  fc.assert(
    fc.property(steps, (given) => {
      const world = run(new PackWorld().take(plans[0]!), given)
      // A change to a plan with fewer units may leave usage that the packs of this period do not pay for.
      world.wait(40).settle()
      world.use(1_000_000)
      expect(world.remaining()).toBe(0)
      world.wait(40).settle()
      expect(used(world)).toBe(bought(world))
    }),
    { numRuns: runs },
  )
})

test('invoices the usage above the included units, less what packs paid for', () => {
  const steps = fc.array(fc.oneof(record, record, wait, settle, bill, buy, refund, giveBack), {
    maxLength: 40,
  })
  fc.assert(
    fc.property(steps, (given) => {
      const world = run(new PackWorld().take(hybrid), given)
      world.wait(40).settle().bill()
      // A late record of the running period is not billed yet, so the oracle looks at billed periods alone.
      world.wait(31).settle().bill()
      expect(world.invoicedMinor).toBe(world.unpaidUnits(100))
      expect(used(world) + taken(world)).toBeLessThanOrEqual(bought(world))
    }),
    { numRuns: runs },
  )
})
