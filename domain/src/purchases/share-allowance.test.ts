import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AllowanceWorld as World, begin, planOf } from '../../test/allowance-world.ts'
import type { PlanTerms } from '../plans/plan.ts'

const dayMs = 86_400_000

const free = (limit: number, more: PlanTerms = {}) => planOf('recurring', 0, { limit, ...more })
const priced = (limit: number) =>
  planOf('recurring', 1_900, { limit, prorationPolicy: 'proportional' })
const plan = (priceMinor: number, limit?: number) =>
  planOf('recurring', priceMinor, limit === undefined ? {} : { limit })
const postPaid = (freeUnits: number) =>
  planOf('usage-based', 0, { billingModel: 'post-paid', creditsPerUnit: 100, freeUnits })

describe('a purchase shares the rest of the current allowance', () => {
  test('after a change that charges the difference, there and back', () => {
    const world = new World().take(priced(1_000)).wait(1)
    expect(world.use(5_000)).toBe(1_000)
    world.wait(1).take(priced(1_000))
    expect(world.remaining()).toBe(0)
    world.wait(1).take(priced(1_500))
    // 28 of 31 days of 500 additional units.
    expect(world.use(5_000)).toBe(451)
    expect(world.take(priced(1_000)).remaining()).toBe(0)
    // The renewal is charged in full.
    expect(world.wait(28).remaining()).toBe(1_000)
  })

  test('after the previous purchase was cancelled, until its period would have ended', () => {
    const world = new World().take(free(100)).wait(3)
    expect(world.use(80)).toBe(80)
    world.end().wait(10)
    expect(world.take(free(100)).remaining()).toBe(20)
    world.end().wait(18)
    expect(world.take(free(100)).remaining()).toBe(100)
  })

  test('after a trial', () => {
    const world = new World().take(free(100))
    expect(world.use(30)).toBe(30)
    const [trial] = world.purchases
    const until = new Date(begin + 14 * dayMs)
    world.purchases[0] = { ...trial!, anchor: until, status: 'trialing' }
    expect(world.wait(2).take(free(100)).remaining()).toBe(70)
    world.wait(13)
    expect(world.take(free(100)).remaining()).toBe(70)
  })

  test('after a plan without periods, for its own first period', () => {
    const once = planOf('one-time', 0, { limit: 10 })
    const { billingCycle: _, ...terms } = once.terms
    const world = new World().take({ ...once, terms })
    expect(world.use(10)).toBe(10)
    expect(world.wait(400).take(free(12)).remaining()).toBe(2)
    expect(world.wait(31).remaining()).toBe(12)
  })

  test('with a longer period, even after a change back to a shorter one', () => {
    const world = new World().take(free(10, { billingCycle: 'weekly' })).take(free(1_000))
    expect(world.use(1_000)).toBe(1_000)
    expect(
      world
        .wait(8)
        .take(free(10, { billingCycle: 'weekly' }))
        .remaining(),
    ).toBe(0)
    expect(world.take(free(1_000)).remaining()).toBe(0)
  })

  test('with usage that arrives late, which reduces the free units of the next purchase', () => {
    const world = new World().take(postPaid(100)).wait(1).take(postPaid(100)).wait(1)
    world.use(80)
    world.usages.push({ second: Math.floor(begin / 1000) + 60, units: 50 })
    expect(world.bills()).toEqual([
      { own: 50, free: 50 },
      { own: 80, free: 50 },
    ])
  })
})

test('starts a full allowance for a purchase that is paid in full', () => {
  const world = new World().take(free(100))
  expect(world.use(100)).toBe(100)
  world.take(priced(1_000))
  expect(world.last.allowance).toBeNull()
  expect(world.use(5_000)).toBe(1_000)
})

test('charges 540 units with 100 free units the same with six changes as with none', () => {
  const world = new World().take(postPaid(100))
  for (let change = 0; change < 6; change += 1) {
    world.use(77)
    world.wait(1).take(postPaid(100))
  }
  world.use(540 - 6 * 77)
  const bills = world.bills()
  expect(bills.reduce((sum, { own }) => sum + own, 0)).toBe(540)
  expect(bills.reduce((sum, bill) => sum + bill.free, 0)).toBe(100)
})

describe('a change to another price prorates units like the price', () => {
  const [cheap, dear] = [plan(1_900, 100), plan(4_900, 300)]

  test('schedules a cheaper plan for the renewal, so that no used units are credited', () => {
    const world = new World().take(dear)
    expect(world.use(5_000)).toBe(300)
    world.take(cheap)
    expect(world.paidMinor).toBe(4_900)
    expect(world.remaining()).toBe(0)
    expect(world.wait(31).paidMinor).toBe(6_800)
    expect(world.use(5_000)).toBe(100)
  })

  test('adds the units that the difference to a more expensive plan pays for', () => {
    const world = new World().take(cheap).wait(15.5).take(dear)
    expect(world.paidMinor).toBe(1_900 + 1_500)
    expect(world.use(5_000)).toBe(200)
    expect(world.wait(15.5).use(5_000)).toBe(300)
  })

  test('waits for the renewal if the difference is too small to charge', () => {
    const world = new World().take(cheap).wait(30.9).take(dear)
    expect(world.paidMinor).toBe(1_900)
    expect(world.use(5_000)).toBe(100)
    expect(world.wait(0.2).use(5_000)).toBe(300)
  })

  test('charges a plan without a limit by time, and counts units of the next plan from the change', () => {
    const world = new World().take(plan(4_900)).wait(15.5).take(cheap)
    expect(world.paidMinor).toBe(4_900 - 1_500)
    expect(world.use(5_000)).toBe(50)
    expect(world.take(plan(4_900)).remaining()).toBe(Infinity)
  })

  test('prorates the free units of a hybrid plan on the bill', () => {
    const hybrid = (priceMinor: number, freeUnits: number) =>
      planOf('hybrid', priceMinor, { freeUnits, creditsPerUnit: 100 })
    const world = new World().take(hybrid(1_000, 50)).wait(15.5).take(hybrid(3_000, 150))
    world.use(500)
    expect(world.bills()).toEqual([
      { own: 0, free: 0 },
      { own: 500, free: 100 },
    ])
  })
})

/* The model has no windows. It counts full charges and the months that have passed. */
describe('for any sequence of changes', () => {
  const units = fc.integer({ min: 1, max: 120 })
  const step = (daysMax: number) =>
    fc.oneof(
      fc.record({
        kind: fc.constant('wait'),
        days: fc.double({ min: 0, max: daysMax, noNaN: true }),
      }),
      fc.record({ kind: fc.constant('use'), units }),
      fc.record({ kind: fc.constant('free'), units }),
      fc.record({ kind: fc.constant('priced'), units }),
      fc.record({ kind: fc.constant('post-paid'), units }),
      fc.record({ kind: fc.constant('end') }),
    )

  function play(steps: readonly { kind: string; units?: number; days?: number }[]) {
    const world = new World()
    let served = 0
    let largest = 0
    for (const { kind, units: count = 0, days = 0 } of steps) {
      if (kind === 'wait') world.wait(days)
      if (kind === 'end') world.end()
      if (kind === 'use' && world.remaining() !== Infinity) served += world.use(count)
      if (kind === 'free' || kind === 'priced') {
        world.take(kind === 'free' ? free(count) : priced(count))
        largest = Math.max(largest, count)
      }
    }
    return { world, served, largest }
  }

  test('allows at most the largest allowance per full charge, plus one free allowance', () => {
    const withinOnePeriod = fc.array(step(3), { maxLength: 9 })
    fc.assert(
      fc.property(withinOnePeriod, (steps) => {
        const { world, served, largest } = play(steps)
        expect(served).toBeLessThanOrEqual(largest * (world.fullCharges + 1))
        const [first] = world.purchases
        if (first === undefined || first.amountMinor === 0) return
        expect(served).toBeLessThanOrEqual(largest * world.fullCharges)
      }),
      { numRuns: 2_000 },
    )
  })

  test('grants at most one allowance per full charge and per month', () => {
    const overMonths = fc.array(step(40), { maxLength: 25 })
    fc.assert(
      fc.property(overMonths, (steps) => {
        const { world, served, largest } = play(steps)
        const months = Math.floor((world.nowMs - begin) / (28 * dayMs))
        expect(served).toBeLessThanOrEqual(largest * (world.fullCharges + 1 + months))
      }),
      { numRuns: 2_000 },
    )
  })

  /* All plans have the same price for a unit, so no plan serves units that are worth more than they cost. */
  test('never serves more value than was paid, net of credits', () => {
    const catalog = fc.array(fc.integer({ min: 100, max: 9_999 }), { minLength: 2, maxLength: 5 })
    const choice = fc.nat({ max: 4 })
    const moves = fc.array(
      fc.oneof(
        fc.record({
          kind: fc.constant('wait' as const),
          days: fc.oneof(
            fc.double({ min: 0, max: 40, noNaN: true }),
            fc.double({ min: 0, max: 1, noNaN: true }),
          ),
        }),
        fc.record({ kind: fc.constant('take' as const), choice }),
        fc.record({ kind: fc.constant('use' as const), units: fc.constantFrom(1, 50, 100_000) }),
        fc.record({ kind: fc.constant('end' as const) }),
      ),
      { maxLength: 20 },
    )
    fc.assert(
      fc.property(catalog, moves, (prices, each) => {
        const plansOf = prices.map((minor) => plan(minor, minor))
        const world = new World()
        let served = 0
        for (const move of each) {
          if (move.kind === 'wait') world.wait(move.days)
          if (move.kind === 'take') world.take(plansOf[move.choice % plansOf.length]!)
          if (move.kind === 'use') served += world.use(move.units)
          if (move.kind === 'end') world.end()
          expect(served).toBeLessThanOrEqual(world.paidMinor)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  /* Limits do not depend on prices. A unit is worth its price on the plan where it is cheapest. */
  test('charges units at least at the price of the cheapest plan', () => {
    const priceAndLimit = fc.tuple(
      fc.integer({ min: 50, max: 999 }),
      fc.integer({ min: 1, max: 999 }),
    )
    const catalog = fc.array(priceAndLimit, { minLength: 2, maxLength: 4 })
    const moves = fc.array(
      fc.tuple(fc.double({ min: 0, max: 12, noNaN: true }), fc.nat({ max: 3 }), fc.nat(1_200)),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(catalog, moves, (offered, each) => {
        const plansOf = offered.map(([minor, limit]) => plan(minor, limit))
        const cheapest = Math.min(...offered.map(([minor, limit]) => minor / limit))
        const world = new World()
        let served = 0
        for (const [days, choice, units] of each) {
          served += world
            .wait(days)
            .take(plansOf[choice % plansOf.length]!)
            .use(units)
          expect(served * cheapest).toBeLessThanOrEqual(world.paidMinor + 1e-6)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('bills every unit once, with at most the free units of the most generous plan', () => {
    const changes = fc.array(
      fc.record({
        days: fc.double({ min: 0, max: 2, noNaN: true }),
        freeUnits: units,
        used: fc.nat(200),
      }),
      { minLength: 1, maxLength: 12 },
    )
    fc.assert(
      fc.property(changes, (each) => {
        const world = new World()
        for (const { days, freeUnits, used } of each) {
          world.take(postPaid(freeUnits))
          world.wait(days)
          world.use(used)
        }
        const bills = world.bills()
        const total = each.reduce((sum, { used }) => sum + used, 0)
        const most = Math.max(...each.map(({ freeUnits }) => freeUnits))
        expect(bills.reduce((sum, { own }) => sum + own, 0)).toBe(total)
        const given = bills.reduce((sum, bill) => sum + bill.free, 0)
        expect(given).toBeLessThanOrEqual(most)
      }),
      { numRuns: 500 },
    )
  })
})
