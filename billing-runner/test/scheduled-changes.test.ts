import { randomRuns } from '@tollgate/platform/testing/random-runs'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { ChangeBilling } from '@tollgate/schemas/http/scheduled-changes'
import { startRunnerStack } from './runner-stack.ts'
import { ModelCustomer } from './terms-model.ts'
import { TermsPlayer, type Death } from './terms-player.ts'

/*
 * Random sequences of changed plans, migrations, scheduled changes, cancellations, choices of customers, renewals and deaths of the
 * process that runs the jobs. Each customer is charged each period once, at the terms valid at its start, and each difference once;
 * and no migration moves a customer twice.
 */

const runs = randomRuns(15, process.env['TOLLGATE_TEST_SCHEDULED_CHANGES'])
const begin = new Date('2026-01-31T12:00:00Z')
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const customersMax = 4
const prices = [900, 1_900, 1_930, 4_900] as const

const stack = await startRunnerStack()
afterAll(() => stack.stop())

type Step =
  | { readonly do: 'wait'; readonly hours: number; readonly death: Death | undefined }
  | { readonly do: 'price'; readonly plan: number; readonly priceMinor: number }
  | {
      readonly do: 'migrate'
      readonly from: number
      readonly to: number
      readonly billing: ChangeBilling | undefined
      readonly noticeDays: number | false
    }
  | { readonly do: 'move'; readonly move: 'pause' | 'resume' | 'cancel' }
  | {
      readonly do: 'schedule'
      readonly customer: number
      readonly plan: number
      readonly billing: ChangeBilling | undefined
      readonly days: number
    }
  | {
      readonly do: 'withdraw' | 'cancel' | 'reactivate'
      readonly customer: number
    }
  | { readonly do: 'activate'; readonly customer: number; readonly plan: number }

const plan = fc.constantFrom(0, 1)
const customer = fc.nat(customersMax - 1)
const billing = fc.constantFrom<(ChangeBilling | undefined)[]>(undefined, 'prorate', 'keep_period')
const death = fc.record({ commitsLeft: fc.nat(12), isAfterCommit: fc.boolean() })

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      hours: fc.constantFrom(1, 30, 9 * 24, 20 * 24, 45 * 24),
      death: fc.option(death, { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('price' as const),
      plan,
      priceMinor: fc.constantFrom(...prices),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('migrate' as const),
      from: plan,
      to: plan,
      billing,
      noticeDays: fc.constantFrom<(number | false)[]>(false, 0, 10, 40),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      move: fc.constantFrom('pause' as const, 'resume' as const, 'cancel' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('schedule' as const),
      ...{ customer, plan, billing },
      days: fc.constantFrom(0, 3, 25, 70),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('withdraw' as const, 'cancel' as const, 'reactivate' as const),
      customer,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('activate' as const), customer, plan }) },
)

test(
  `${runs.numRuns} random sequences charge each customer what the terms say`,
  { timeout: 0 },
  async () => {
    const steps = fc.array(step, { minLength: 6, maxLength: 24, size: 'max' })
    await fc.assert(fc.asyncProperty(steps, play), { ...runs, endOnFailure: true })
  },
)

/** A migration in the model. */
type ModelMigration = {
  readonly from: number
  readonly to: number
  readonly priceMinor: number
  readonly billing: ChangeBilling | undefined
  readonly noticeDays: number | false
  readonly createdAt: Date
  status: 'running' | 'paused' | 'done' | 'cancelling' | 'cancelled'
}

async function play(steps: readonly Step[]): Promise<void> {
  stack.clock.set(begin.toISOString())
  // The jobs must not continue the purchases and migrations of earlier sequences.
  const rows = stack.database.in('sandbox')
  await rows`update purchases set status = 'expired'`
  await rows`update plan_migrations set status = 'cancelled'`
  const shop = await stack.openShop()
  const planPrices = [1_900, 4_900]
  const terms = { type: 'recurring', billingCycle: 'monthly' } as const
  const plans = [
    await stack.addPlan(shop, { ...terms, name: 'One', price: 1_900 }),
    await stack.addPlan(shop, { ...terms, name: 'Two', price: 4_900 }),
  ]
  const names: string[] = []
  const models: ModelCustomer[] = []
  for (let number = 0; number < customersMax; number += 1) {
    const at = number % 2
    names.push((await stack.buy(shop, plans[at]!)).customerRef)
    models.push(new ModelCustomer(at, planPrices[at]!, begin))
  }
  const player = new TermsPlayer(stack, shop)
  const migrations: ModelMigration[] = []

  const runModel = (now: Date): void => {
    /** A customer may join a migration with a change, which is made in the same round. */
    const change = (each: ModelCustomer): void => {
      do join(each, migrations, now)
      while (each.changeUntil(now))
    }
    for (const each of models) {
      each.renewUntil(now)
      change(each)
    }
    for (const [number, migration] of migrations.entries()) advance(models, migration, number, now)
    for (const each of models) change(each)
  }

  for (const each of steps) {
    // No two steps happen at the same time: terms and migrations are compared by time.
    stack.clock.set(new Date(player.now.getTime() + 1_000).toISOString())
    const { now } = player
    switch (each.do) {
      case 'wait': {
        const at = new Date(now.getTime() + each.hours * hourMs)
        stack.clock.set(at.toISOString())
        await player.runJobs(each.death && { ...each.death })
        runModel(at)
        break
      }
      case 'price':
        planPrices[each.plan] = each.priceMinor
        await player.changePrice(plans[each.plan]!.reference, each.priceMinor)
        break
      case 'migrate': {
        const { from, to, noticeDays } = each
        const when = each.billing === undefined ? 'renewal' : 'now'
        const toPlanRef = plans[to]!.reference
        const began = await player.migrate(plans[from]!.reference, {
          ...{ when, toPlanRef, notice: noticeDays },
          ...(each.billing === undefined ? {} : { billing: each.billing }),
        })
        expect(began).toBe(migrations.every((other) => other.from !== from || isOver(other.status)))
        const own = { from, to, noticeDays, billing: each.billing, priceMinor: planPrices[to]! }
        if (began) migrations.push({ ...own, createdAt: now, status: 'running' })
        break
      }
      case 'move': {
        const moved = await player.moveNewest(each.move)
        const newest = migrations.at(-1)
        if (moved && newest !== undefined) moveModel(newest, each.move)
        break
      }
      case 'schedule': {
        const model = models[each.customer]!
        const at = new Date(now.getTime() + each.days * dayMs)
        const outcome = await player.schedule(
          names[each.customer]!,
          plans[each.plan]!.reference,
          each.billing === undefined ? undefined : at,
          each.billing,
        )
        const priceMinor = planPrices[each.plan]!
        const isSame = model.plan === each.plan && model.priceMinor === priceMinor
        const isOpen = !model.isEnding && !model.hasEnded
        expect(outcome).toBe(
          isOpen ? (isSame ? 'unchanged' : 'scheduled') : model.hasEnded ? 'ended' : 'cancelled',
        )
        if (outcome !== 'scheduled') break
        const when = each.billing === undefined ? model.renewalFrom(now) : at
        model.ahead = {
          ...{ plan: each.plan, priceMinor, at: when },
          ...{ billing: each.billing, termsAt: now, migration: undefined },
        }
        break
      }
      case 'withdraw':
        await player.withdraw(names[each.customer]!)
        models[each.customer]!.ahead = undefined
        break
      case 'cancel':
        await player.cancel(names[each.customer]!)
        models[each.customer]!.isEnding = true
        break
      case 'reactivate':
        await player.reactivate(names[each.customer]!)
        if (!models[each.customer]!.hasEnded) models[each.customer]!.isEnding = false
        break
      case 'activate': {
        const model = models[each.customer]!
        // Another plan for a customer whose purchase has ended would have to be paid.
        if (model.hasEnded || model.isEnding) break
        await player.activate(names[each.customer]!, plans[each.plan]!.reference)
        model.activate(each.plan, planPrices[each.plan]!, now)
        break
      }
    }
  }
  for (const [at, model] of models.entries()) {
    expect(await player.chargesOf(names[at]!)).toEqual(model.charges)
    expect(await player.movesOf(names[at]!)).toEqual(model.movedBy.toSorted())
    expect(new Set(model.movedBy).size).toBe(model.movedBy.length)
  }
}

function isOver(status: ModelMigration['status']): boolean {
  return status === 'done' || status === 'cancelled'
}

function moveModel(migration: ModelMigration, move: 'pause' | 'resume' | 'cancel'): void {
  if (move === 'pause') migration.status = 'paused'
  if (move === 'resume') migration.status = 'running'
  if (move === 'cancel' && migration.status !== 'cancelled') migration.status = 'cancelling'
}

/** Schedules the change of each holder, or withdraws the changes of a cancelled migration. */
function advance(
  models: readonly ModelCustomer[],
  migration: ModelMigration,
  number: number,
  now: Date,
): void {
  if (migration.status === 'cancelling') {
    for (const each of models) if (each.ahead?.migration === number) each.ahead = undefined
    migration.status = 'cancelled'
  }
  if (migration.status !== 'running') return
  for (const each of models) moveHolder(each, migration, number, now)
  migration.status = 'done'
}

/** Schedules the change of a customer who has older terms than those at the migration. */
function moveHolder(
  model: ModelCustomer,
  { from, to, priceMinor, billing, noticeDays, createdAt }: ModelMigration,
  number: number,
  now: Date,
): void {
  const isSame = model.plan === to && model.priceMinor === priceMinor
  const isOpen = !model.isEnding && !model.hasEnded && model.ahead === undefined
  if (model.plan !== from || model.since > createdAt || isSame || !isOpen) return
  const notBefore = new Date(now.getTime() + (noticeDays || 0) * dayMs)
  const at = billing === undefined ? model.renewalFrom(notBefore) : notBefore
  model.ahead = { plan: to, priceMinor, at, billing, termsAt: createdAt, migration: number }
}

/** A customer whose plan begins with older terms joins the newest migration of the plan. */
function join(model: ModelCustomer, migrations: readonly ModelMigration[], now: Date): void {
  if (!model.hasChanged) return
  model.hasChanged = false
  const number = migrations.findLastIndex(
    ({ from, status }) => from === model.plan && !/cancel/.test(status),
  )
  if (number >= 0 && migrations[number]!.status !== 'paused') {
    moveHolder(model, migrations[number]!, number, now)
  }
}
