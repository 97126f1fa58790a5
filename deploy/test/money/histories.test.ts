import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { readProcessor } from '../../../stripe-simulator/test/at-processor.ts'
import { longTimeoutMs, MoneyWorld } from './money-world.ts'
import { playStory } from './play-story.ts'
import type { StoryContext } from './story-context.ts'
import { runRemainingJobs } from './run-remaining-jobs.ts'
import { addCustomer, openShop } from './shop.ts'
import { anyAct, cards, endings, type Act, type Item } from './story.ts'
import { verifyWorld } from './verify-world.ts'
import { environment } from './environment.ts'
import { openStores } from './stores.ts'

/*
 * Events of the processor about a payment arrive late, in any order and more than once, with reconciliations in between. The
 * payment, its refunds and its disputes must reach the same final state as when each event arrives immediately, and no event is
 * emitted twice.
 */

const configured = process.env['TOLLGATE_TEST_MONEY_HISTORIES']
const historiesMax = Number(configured ?? 6)

/** The histories are the same in each run, unless a number of histories is set. */
const drawn = configured === undefined ? { seed: 34 } : {}

const stores = await openStores()
afterAll(() => stores.stop())

/** How the pending events are delivered after a happening. */
type Delivery = {
  /** Indexes of the pending events to deliver now, one after the other. */
  readonly order: readonly number[]
  readonly copies: number
  readonly processesInbox: boolean
  readonly reconciles: boolean
}

const slot = fc.constant(0 as const)
const happening: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: anyAct('pay', { slot, card: fc.constantFrom(...cards) }) },
  { weight: 2, arbitrary: anyAct('answer the bank', { slot, isAccepted: fc.boolean() }) },
  { weight: 3, arbitrary: anyAct('refund', { slot, isPart: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: anyAct('end the refund', { status: fc.constant('succeeded' as const) }),
  },
  { weight: 1, arbitrary: anyAct('dispute', { slot }) },
  { weight: 1, arbitrary: anyAct('end the dispute', { ending: fc.constantFrom(...endings) }) },
  { weight: 2, arbitrary: anyAct('pass', { minutes: fc.constant(1) }) },
)

const delivery: fc.Arbitrary<Delivery> = fc.record({
  order: fc.array(fc.nat(30), { maxLength: 5 }),
  copies: fc.integer({ min: 1, max: 3 }),
  processesInbox: fc.boolean(),
  reconciles: fc.boolean(),
})

type History = {
  readonly item: Item
  readonly happenings: readonly (readonly [Act, Delivery])[]
}

test('reaches the same state for every order of webhooks', { timeout: 3_600_000 }, async () => {
  const histories = fc.record({
    item: fc.constantFrom<Item>('gold', 'credits'),
    happenings: fc.array(fc.tuple(happening, delivery), { minLength: 1, maxLength: 8 }),
  })
  let isTold = false
  const property = fc.asyncProperty(histories, async (history) => {
    try {
      await verifyHistory(history)
    } catch (error) {
      // The history is shrunk next, which takes long, so the error is printed now.
      if (!isTold) console.error(error, JSON.stringify(history))
      isTold = true
      throw error
    }
  })
  await fc.assert(property, { ...drawn, numRuns: historiesMax })
})

test('claims only the credits whose money a dispute withdrew, if an earlier refund fails', async () => {
  const late = { order: [2, 0], copies: 2, processesInbox: true, reconciles: false }
  const pay: Act = { do: 'pay', slot: 0, card: 'pm_card_refundFail' }
  const refund: Act = { do: 'refund', slot: 0, isPart: true }
  const dispute: Act = { do: 'dispute', slot: 0 }
  const untilRefundFails: Act = { do: 'pass', minutes: 1 }
  const acts = [pay, refund, dispute, untilRefundFails]
  await verifyHistory({ item: 'credits', happenings: acts.map((act) => [act, late] as const) })
})

/** Compares the outcome of a history with the outcome if each event arrives immediately. */
async function verifyHistory({ item, happenings }: History): Promise<void> {
  const reference = await outcomeOf(
    item,
    happenings.map(([act]) => [act, undefined] as const),
  )
  const outcome = await outcomeOf(item, happenings)
  expect(outcome.state).toEqual(reference.state)
  if (!reference.hasFailedRefund) expect(outcome.purchases).toEqual(reference.purchases)
  expect(new Set(outcome.events).size).toBe(outcome.events.length)
  expect(reference.events).toEqual(expect.arrayContaining([...outcome.events]))
  const missing = reference.events.filter((event) => !outcome.events.includes(event))
  const excused = reference.hasFailedRefund
    ? eventsOfFailedRefund
    : /^payment\.(failed|refund_pending) /
  expect(missing.filter((event) => !excused.test(event))).toEqual([])
}

/**
 * A refund that first succeeds and later fails removes what the payment paid for, if it is read in between, and that is permanent.
 * If it is read later, it has already failed and nothing is removed.
 */
const eventsOfFailedRefund = /^(payment\.(failed|refund)|purchase\.refunded|customer\.credit)/

type Outcome = {
  readonly state: object
  readonly purchases: readonly object[]
  readonly hasFailedRefund: boolean
  /** Event types with the index of their object, because the ids differ between payments. */
  readonly events: readonly string[]
}

/** Plays a history and returns its outcome. Without a delivery, each event arrives immediately. */
async function outcomeOf(
  item: Item,
  happenings: readonly (readonly [Act, Delivery | undefined])[],
): Promise<Outcome> {
  const world = await MoneyWorld.open(stores, [], longTimeoutMs)
  try {
    const shop = await openShop(stores)
    const customer = await addCustomer(stores, shop)
    const context: StoryContext = { world, shop, customer, known: new Map() }
    await playStory(context, { crashes: [], acts: [[{ do: 'buy', slot: 0, item }]] })
    for (const [act, told] of happenings) {
      await playStory(context, { crashes: [], acts: [[act]] })
      await deliver(context, told)
    }
    await runRemainingJobs(context)
    await verifyWorld(context)
    return await summarize(context)
  } finally {
    await world.close()
  }
}

async function deliver({ world }: StoryContext, told: Delivery | undefined): Promise<void> {
  await world.collectWebhooks()
  const { webhooks } = world
  const service = await world.service()
  const now = told?.order ?? webhooks.map(() => 0)
  for (const place of now) {
    const [event] = webhooks.splice(place % Math.max(webhooks.length, 1), 1)
    if (event === undefined) break
    for (let copy = 0; copy < (told?.copies ?? 1); copy++) await service.receive(event)
    // Some events are delivered again later.
    if ((told?.copies ?? 1) > 2) webhooks.push(event)
  }
  if (told?.processesInbox !== false) await service.processInbox()
  if (told?.reconciles === true) await service.reconcilePayments()
}

async function summarize({ world, shop }: StoryContext): Promise<Outcome> {
  const { providerId } = shop
  const sql = world.stores.postgres.database.in(environment)
  const { refunds, disputes } = await readProcessor(world.simulator.simulator.url)
  // The lists are ordered newest first.
  const places = new Map<string, string>()
  for (const [place, { id }] of refunds.toReversed().entries()) places.set(id, `refund ${place}`)
  for (const [place, { id }] of disputes.toReversed().entries()) places.set(id, `dispute ${place}`)
  const events = await sql<{ type: string; id: string; failure: string | null }[]>`
    select type, object ->> 'id' as id, object ->> 'failure_reason' as failure from outbox
    where provider_id = ${providerId} and type ~ '^(payment|purchase|customer\\.credit)\\.'
    order by sequence`
  const counts = new Map<string, number>()
  const named = events.map(({ type, id, failure }) => {
    const name = `${type} ${places.get(id) ?? 'it'} ${failure ?? ''}`.trim()
    // Two declines for the same reason are separate events, and so are the credits taken back for each of two refunds.
    if (!/^(payment\.failed|customer\.credit\.)/.test(type)) return name
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return `${name} #${count}`
  })
  const ofPurchases = await sql`
    select status, auto_renew from purchases where provider_id = ${providerId}`
  return {
    events: named,
    purchases: [...ofPurchases],
    hasFailedRefund: refunds.some(({ status }) => status === 'failed'),
    state: {
      payments: [
        ...(await sql`
          select status, original_amount, failure_reason from payment_intents
          where provider_id = ${providerId}`),
      ],
      wallets: [
        ...(await sql`
          select balance_micros from wallets where provider_id = ${providerId}`),
      ],
      refunds: [
        ...(await sql`
          select status, amount from payment_refunds where provider_id = ${providerId}
          order by amount, status`),
      ],
      disputes: [
        ...(await sql`
          select status, amount from payment_disputes where provider_id = ${providerId}
          order by status`),
      ],
    },
  }
}
