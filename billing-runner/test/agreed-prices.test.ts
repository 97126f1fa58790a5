import { changePlan } from '@tollgate/domain/catalog/change-plan'
import { changeOverrides } from '@tollgate/domain/purchases/change-overrides'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import type { AgreedPrice, RampStep } from '@tollgate/schemas/http/agreed-prices'
import type { ChangeBilling } from '@tollgate/schemas/http/scheduled-changes'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import {
  PricedCustomer,
  type ModelAgreement,
  type ModelRamp,
  type ModelTerms,
} from './agreed-prices-model.ts'
import { startRunnerStack } from './runner-stack.ts'
import { TermsPlayer, type Death } from './terms-player.ts'

/*
 * Random plans with ramps, agreed prices, changes of plan by the customer and by the provider, cancellations and renewals, with deaths of
 * the process that runs the jobs. Each period and each difference is charged once, at the price in force when the period begins, and
 * the other customers of the plans pay what the plans say.
 */

const runs = randomRuns(20, process.env['TOLLGATE_TEST_AGREED_PRICES'])
const begin = new Date('2026-01-31T12:00:00Z')
const hourMs = 3_600_000
const dayMs = 24 * hourMs

const stack = await startRunnerStack()
afterAll(() => stack.stop())

const prices = fc.constantFrom(900, 1_900, 1_930, 2_500, 4_900)
const ramps = fc.array(fc.record({ periods: fc.integer({ min: 1, max: 2 }), price: prices }), {
  maxLength: 3,
})
const plan = fc.constantFrom(0, 1)
const death = fc.record({ commitsLeft: fc.nat(8), isAfterCommit: fc.boolean() })
const billing = fc.constantFrom<(ChangeBilling | undefined)[]>(undefined, 'prorate', 'keep_period')

type DrawnPrice = {
  readonly plan: number
  readonly fromDays: number | undefined
  readonly days: number | undefined
  readonly price: number | undefined
  readonly ramp: readonly RampStep[]
}

const agreement: fc.Arbitrary<DrawnPrice> = fc.record({
  plan,
  fromDays: fc.constantFrom(undefined, undefined, 0, 10, 28, 59),
  days: fc.constantFrom(undefined, undefined, 31, 59, 100),
  price: fc.option(prices, { nil: undefined }),
  ramp: ramps,
})

type Step =
  | { readonly do: 'wait'; readonly hours: number; readonly death: Death | undefined }
  | { readonly do: 'wait for the renewal'; readonly death: Death | undefined }
  /** `lateHours`: how long no job has run before. */
  | { readonly do: 'agree'; readonly prices: readonly DrawnPrice[]; readonly lateHours: number }
  | {
      readonly do: 'sell'
      readonly plan: number
      readonly price: number
      readonly ramp: readonly RampStep[]
    }
  | { readonly do: 'activate'; readonly plan: number }
  | {
      readonly do: 'schedule'
      readonly plan: number
      readonly billing: ChangeBilling | undefined
      readonly days: number
    }
  | { readonly do: 'cancel' | 'reactivate' }

const optionalDeath = fc.option(death, { nil: undefined })

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      hours: fc.constantFrom(1, 30, 9 * 24, 20 * 24, 45 * 24),
      death: optionalDeath,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait for the renewal' as const),
      death: optionalDeath,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('agree' as const),
      prices: fc.array(agreement, { maxLength: 3 }),
      lateHours: fc.constantFrom(0, 0, 1, 40 * 24),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('sell' as const), plan, price: prices, ramp: ramps }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('activate' as const), plan }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('schedule' as const),
      ...{ plan, billing },
      days: fc.constantFrom(0, 3, 25, 70),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('cancel' as const, 'reactivate' as const) }),
  },
)

const stories = fc.record({
  plans: fc.tuple(
    fc.record({ price: prices, ramp: ramps }),
    fc.record({ price: prices, ramp: ramps }),
  ),
  steps: fc.array(step, { minLength: 6, maxLength: 24, size: 'max' }),
})

type Story = typeof stories extends fc.Arbitrary<infer Drawn> ? Drawn : never

test(
  `${runs.numRuns} random stories charge each period the price that it began with`,
  { timeout: 0 },
  async () => {
    await fc.assert(fc.asyncProperty(stories, play), { ...runs, endOnFailure: true })
  },
)

const expand = (ramp: readonly RampStep[]): ModelRamp =>
  ramp.flatMap(({ periods, price = 0 }) => Array.from({ length: periods }, () => price))

async function play({ plans: drawn, steps }: Story): Promise<void> {
  stack.clock.set(begin.toISOString())
  // The jobs must not continue the purchases of earlier stories.
  await stack.database.in('sandbox')`update purchases set status = 'expired'`
  const shop = await stack.openShop()
  const monthly = { type: 'recurring', billingCycle: 'monthly' } as const
  const plans = [
    await stack.addPlan(shop, { ...monthly, name: 'One', ...drawn[0] }),
    await stack.addPlan(shop, { ...monthly, name: 'Two', ...drawn[1] }),
  ]
  const terms: ModelTerms[] = drawn.map(({ price, ramp }, at) => ({
    ...{ plan: at, list: price, ramp: expand(ramp) },
  }))
  const { customerRef } = await stack.buy(shop, plans[0]!)
  const { customerRef: otherRef } = await stack.buy(shop, plans[0]!)
  const model = new PricedCustomer(terms[0]!, begin)
  const other = new PricedCustomer(terms[0]!, begin)
  const player = new TermsPlayer(stack, shop)
  const productRef = shop.product.reference

  const runUntil = async (atMs: number, dies?: Death): Promise<void> => {
    stack.clock.set(new Date(atMs).toISOString())
    await player.runJobs(dies && { ...dies })
    model.run(atMs)
    other.run(atMs)
  }

  for (const each of steps) {
    const nowMs = player.now.getTime()
    switch (each.do) {
      case 'wait':
        await runUntil(nowMs + each.hours * hourMs, each.death)
        break
      case 'wait for the renewal':
        await runUntil(Math.max(nowMs, other.nextMs), each.death)
        break
      case 'agree': {
        const atMs = nowMs + each.lateHours * hourMs
        stack.clock.set(new Date(atMs).toISOString())
        const agreed = each.prices
          .map((price) => [toHttp(price, plans, atMs), toModel(price, atMs)] as const)
          .filter(([{ price, ramp }]) => price !== undefined || ramp !== undefined)
        const overrides = { charges: [], usageLimits: [], prices: agreed.map(([http]) => http) }
        const outcome = await stack.within(shop, (work) =>
          changeOverrides(work, { customerRef, productRef }, overrides),
        )
        expect(outcome.kind).toBe('changed')
        const isOverdue = model.nextMs <= atMs
        model.agree(
          agreed.map(([, own]) => own),
          atMs,
        )
        if (isOverdue || each.lateHours > 0) await runUntil(atMs)
        break
      }
      case 'sell': {
        const { price, ramp } = each
        const at = plans[each.plan]!
        const outcome = await stack.within(shop, (work) =>
          changePlan(work, productRef, at.reference, { price, ramp: [...ramp] }, 'USD'),
        )
        expect(outcome.kind).toBe('plan')
        terms[each.plan] = { plan: each.plan, list: price, ramp: expand(ramp) }
        break
      }
      case 'activate':
        if (model.hasEnded) break
        await player.activate(customerRef, plans[each.plan]!.reference)
        model.activate(terms[each.plan]!, nowMs)
        break
      case 'schedule': {
        if (model.hasEnded || model.isEnding) break
        const at = new Date(nowMs + each.days * dayMs)
        const isAtRenewal = each.billing === undefined
        const outcome = await player.schedule(
          ...[customerRef, plans[each.plan]!.reference, isAtRenewal ? undefined : at, each.billing],
        )
        if (outcome === 'unchanged') break
        expect(outcome).toBe('scheduled')
        model.ahead = {
          ...{ terms: terms[each.plan]!, billing: each.billing },
          atMs: isAtRenewal ? model.nextMs : at.getTime(),
        }
        break
      }
      case 'cancel':
        if (model.hasEnded || model.isEnding) break
        await player.cancel(customerRef)
        model.isEnding = true
        break
      case 'reactivate':
        if (model.hasEnded || !model.isEnding) break
        await player.reactivate(customerRef)
        model.isEnding = false
        break
    }
  }
  await runUntil(player.now.getTime() + 70 * dayMs)
  expect(await player.chargesOf(customerRef)).toEqual(model.charges)
  expect(await player.chargesOf(otherRef)).toEqual(other.charges)
}

function toHttp(
  { plan: at, fromDays, days, price, ramp }: DrawnPrice,
  plans: readonly { readonly reference: string }[],
  nowMs: number,
): AgreedPrice {
  const { fromMs, untilMs } = boundsOf(fromDays, days, nowMs)
  return {
    planRef: plans[at]!.reference,
    ...(fromMs === undefined ? {} : { from: new Date(fromMs).toISOString() }),
    ...(untilMs === undefined ? {} : { until: new Date(untilMs).toISOString() }),
    ...(price === undefined ? {} : { price }),
    ...(ramp.length === 0 ? {} : { ramp: [...ramp] }),
  }
}

function toModel(
  { plan: of, fromDays, days, price, ramp }: DrawnPrice,
  nowMs: number,
): ModelAgreement {
  return { plan: of, ...boundsOf(fromDays, days, nowMs), price, ramp: expand(ramp) }
}

function boundsOf(fromDays: number | undefined, days: number | undefined, nowMs: number) {
  const fromMs = fromDays === undefined ? undefined : nowMs + fromDays * dayMs
  const untilMs = days === undefined ? undefined : (fromMs ?? nowMs) + days * dayMs
  return { fromMs, untilMs }
}
