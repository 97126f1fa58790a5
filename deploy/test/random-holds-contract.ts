import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { setTimeout as sleep } from 'node:timers/promises'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import { expect, test } from 'vitest'
import type { StackUnderTest } from './stack-under-test.ts'
import { HoldsCaller, type Hold, type Named } from './holds-caller.ts'

/* Prices in hundredths of a credit, so that the model counts in integers. */
const price = { requests: 100, tokens: 1 } as const
type Meter = keyof typeof price
const meters = Object.keys(price) as Meter[]
const tokensCap = 1_000
const tokensPerHour = 700
const { seed } = randomRuns(1)

const charges = [
  { meter: 'requests', creditsPerUnit: '1' },
  { meter: 'tokens', creditsPerUnit: '0.01', cap: tokensCap },
]
const usageLimits = [{ meter: 'tokens', cap: tokensPerHour, per: 'rolling', rollingSeconds: 3_600 }]

type Kept = {
  readonly id: string
  readonly units: Record<Meter, number>
  /** Held hundredths of a credit. */
  credits: number
  /** A hold of credits has no units that could be used up. */
  readonly isOfCredits: boolean
}

/** What one customer has used and holds. Every answer of the service must be the one that follows from it. */
class Model {
  readonly used: Record<Meter, number> = { requests: 0, tokens: 0 }
  spent = 0
  readonly kept: Kept[] = []
  readonly granted: number

  constructor(granted: number) {
    this.granted = granted
  }

  get left(): number {
    return this.granted - this.spent - this.kept.reduce((sum, { credits }) => sum + credits, 0)
  }

  admits(units: Record<Meter, number>, credits: number): boolean {
    const held = this.kept.reduce((sum, each) => sum + each.units.tokens, 0)
    const tokens = this.used.tokens + held + units.tokens
    return (
      credits <= this.left && (units.tokens === 0 || tokens <= Math.min(tokensCap, tokensPerHour))
    )
  }

  /** Any limit without room refuses a call that does not name its meter. */
  isBlocked(): boolean {
    return this.used.tokens >= Math.min(tokensCap, tokensPerHour) || this.left < price.requests
  }

  use(meter: Meter, units: number, hold: Kept | undefined, isFinal: boolean): number {
    const due = units * price[meter]
    const paid = Math.min(due, this.left + (hold?.credits ?? 0))
    this.used[meter] += units
    this.spent += paid
    if (hold === undefined) return paid
    hold.units[meter] = Math.max(0, hold.units[meter] - units)
    hold.credits = Math.max(0, hold.credits - paid)
    const isUsedUp = !hold.isOfCredits && meters.every((each) => hold.units[each] === 0)
    if (isFinal || isUsedUp) this.drop(hold)
    return paid
  }

  drop(hold: Kept): void {
    this.kept.splice(this.kept.indexOf(hold), 1)
  }
}

/** Tests random sequences of holds and usage against a model, and many callers at once. */
export function describeRandomHolds(opened: () => StackUnderTest): void {
  test(`answers random holds, parts, extensions, releases and usage like a model [seed ${seed}]`, async () => {
    const caller = await HoldsCaller.open(opened())
    const random = new SeededRandom(seed)
    for (let story = 0; story < 3; story += 1) {
      const granted = 30 + random.below(20)
      const named = await caller.createPayer({ charges, usageLimits }, granted)
      const model = new Model(granted * 100)
      for (let step = 0; step < 40; step += 1) {
        await takeStep(caller, named, model, random)
        await caller.settled(named)
        expect(model.left).toBeGreaterThanOrEqual(0)
        expect([seed, await caller.balance(named)]).toEqual([seed, Math.floor(model.left / 100)])
      }
    }
  }, 120_000)

  test('never exceeds a cap, a rolling window or the wallet with 1,000 callers of all of them at once', async () => {
    const caller = await HoldsCaller.open(opened())
    const named = await caller.createPayer(
      {
        charges: [
          { meter: 'requests', creditsPerUnit: '1' },
          { meter: 'tokens', creditsPerUnit: '0.01', cap: 100 },
        ],
        usageLimits: [{ meter: 'requests', cap: 60, per: 'rolling', rollingSeconds: 3_600 }],
      },
      100,
    )
    await caller.check(named)
    const kinds = [
      { reserve: { estimate: { tokens: 1 } }, credits: 1 },
      { reserve: { estimate: { requests: 1 } }, credits: 100 },
      { reserve: { credits: 1 }, credits: 100 },
    ]
    const held = [0, 0, 0]
    await Promise.all(
      Array.from({ length: 1_000 }, async (_, index) => {
        const { withinLimits } = await caller.hold(named, kinds[index % 3]!.reserve)
        if (withinLimits) held[index % 3]! += 1
      }),
    )
    const [tokens, requests] = held as [number, number, number]
    const credits = held.reduce((sum, count, index) => sum + count * kinds[index]!.credits, 0)
    expect(tokens).toBeLessThanOrEqual(100)
    expect(requests).toBeLessThanOrEqual(60)
    expect(credits).toBeLessThanOrEqual(10_000)
    // Nothing was refused that still fits: less than one credit is left for the 667 callers who asked for one.
    expect(credits).toBeGreaterThan(9_900)
    if (tokens < 100) expect(10_000 - credits).toBeLessThan(1)
  }, 120_000)
}

async function takeStep(
  caller: HoldsCaller,
  named: Named,
  model: Model,
  random: SeededRandom,
): Promise<void> {
  const upTo = (most: number) => random.below(most + 1)
  const kept = model.kept.length === 0 ? undefined : random.pick(model.kept)
  switch (
    random.pick([
      'hold',
      'hold',
      'credits',
      'batch',
      'part',
      'part',
      'use',
      'free',
      'release',
      'extend',
      'expire',
    ])
  ) {
    case 'hold': {
      const estimate = { tokens: 1 + upTo(300), requests: 1 + upTo(4) }
      expectHold(await caller.hold(named, { estimate }), model, estimate)
      return
    }
    case 'credits': {
      if (model.isBlocked()) return
      const credits = (1 + upTo(500)) / 100
      const answer = await caller.hold(named, { credits })
      const due = Math.round(credits * 100)
      expect([seed, answer.withinLimits]).toEqual([seed, model.admits(nothing(), due)])
      const { reservation } = answer
      if (reservation)
        model.kept.push({ id: reservation.id, units: nothing(), credits: due, isOfCredits: true })
      return
    }
    case 'batch': {
      const estimates = Array.from({ length: 1 + upTo(3) }, () => ({
        tokens: 1 + upTo(200),
        requests: 1,
      }))
      const allOrNothing = random.chance(0.5)
      const { results } = await caller.batch(named, estimates, allOrNothing)
      const before = [...model.kept]
      for (const [index, estimate] of estimates.entries()) {
        const isHeld = model.admits({ ...nothing(), ...estimate }, costOf(estimate))
        const { status, limits } = results[index]!
        expect([seed, status === 'refused']).toEqual([seed, !isHeld])
        if (isHeld) model.kept.push(keptOf(limits?.reservation?.id ?? '', estimate))
      }
      if (allOrNothing && results.some(({ status }) => status === 'refused')) {
        model.kept.splice(0, model.kept.length, ...before)
      }
      return
    }
    case 'part':
    case 'use': {
      if (kept === undefined) return
      const isFinal = random.chance(0.4)
      const meter = random.pick(meters)
      const units = meter === 'tokens' ? upTo(200) + 1 : upTo(2) + 1
      const more = { reservationId: kept.id, reservationFinal: isFinal }
      const paid = await caller.use(named, meter, units, more)
      const expected = model.use(meter, units, kept, isFinal)
      if (meter === 'requests') expect([seed, paid]).toEqual([seed, expected])
      return
    }
    case 'free': {
      const paid = await caller.use(named, 'requests', 1, {})
      expect([seed, paid]).toEqual([seed, model.use('requests', 1, undefined, true)])
      return
    }
    case 'release': {
      if (kept === undefined) return
      expect([seed, await caller.release(kept.id)]).toEqual([seed, true])
      expect([seed, await caller.release(kept.id)]).toEqual([seed, false])
      model.drop(kept)
      return
    }
    case 'extend':
      if (kept !== undefined) {
        expect([seed, await caller.extend(kept.id)]).toEqual([seed, 200])
      }
      return
    case 'expire': {
      const estimate = { tokens: 1 + upTo(50), requests: 1 }
      const answer = await caller.hold(named, { estimate, ttlSeconds: 1 })
      expectHold(answer, model, estimate)
      if (answer.reservation === undefined) return
      await sleep(Date.parse(answer.reservation.expiresAt) - Date.now() + 20)
      model.drop(model.kept.at(-1)!)
    }
  }
}

function nothing(): Record<Meter, number> {
  return { requests: 0, tokens: 0 }
}

function costOf(estimate: Partial<Record<Meter, number>>): number {
  return meters.reduce((sum, meter) => sum + (estimate[meter] ?? 0) * price[meter], 0)
}

function keptOf(id: string, estimate: Partial<Record<Meter, number>>): Kept {
  return { id, units: { ...nothing(), ...estimate }, credits: costOf(estimate), isOfCredits: false }
}

function expectHold(answer: Hold, model: Model, estimate: Partial<Record<Meter, number>>): void {
  const isHeld = model.admits({ ...nothing(), ...estimate }, costOf(estimate))
  expect([seed, answer.withinLimits]).toEqual([seed, isHeld])
  if (answer.reservation) model.kept.push(keptOf(answer.reservation.id, estimate))
}
