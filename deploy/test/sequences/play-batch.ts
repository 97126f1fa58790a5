import { readProcessor } from '../../../stripe-simulator/test/at-processor.ts'
import { booksOf, type Books } from '../money/books.ts'
import { environment } from '../money/environment.ts'
import { longTimeoutMs, MoneyWorld } from '../money/money-world.ts'
import { addCustomer } from '../money/shop.ts'
import type { Stores } from '../money/stores.ts'
import { verifyMoney } from '../money/verify-world.ts'
import { expectCharged } from './expect-charged.ts'
import { expectDiscounted } from './expect-discounted.ts'
import { expectSupported } from './expect-supported.ts'
import { expectSettled, readDocuments } from './expect-settled.ts'
import { readFacts } from './facts.ts'
import { openMarket, type Market } from './market.ts'
import { playStep } from './play-step.ts'
import { createPlayer, type Player } from './player.ts'
import { stepsMax, type Sequence } from './step.ts'

/** A sequence that broke a rule, with the error. */
export type Fault = { readonly steps: string; readonly error: string }

const hourMs = 3_600_000

/** Longer than the tolerance for clients' clocks, so that no usage before a purchase counts in it. */
const betweenStepsMs = 600_000

/** Number of customers whose steps run concurrently. */
const togetherMax = 8

/**
 * Hours after which all usage is billed. A plan that a refund restored after its last bill is billed with its next period, or 30 days
 * after its end.
 */
const finalHours = [40 * 24, 24 * 24, 24, 1, 6]

/**
 * Types of the events that the processor sends: refunds, disputes and saved cards, of which the service learns only from events. It sends
 * no events of payments, because the service must read these itself.
 */
const sentEvents = [
  ...['refund.created', 'refund.updated', 'refund.failed'],
  ...['charge.refunded', 'charge.refund.updated'],
  ...['charge.dispute.created', 'charge.dispute.updated', 'charge.dispute.closed'],
  ...['charge.dispute.funds_withdrawn', 'charge.dispute.funds_reinstated'],
  ...['setup_intent.created', 'setup_intent.requires_action', 'setup_intent.setup_failed'],
  ...['setup_intent.succeeded', 'setup_intent.canceled'],
]

type BatchHooks = {
  /** Runs after the steps of a round, before its jobs. */
  readonly afterRound?: (round: number, books: Books) => Promise<void>
  /** Reads what has happened. */
  readonly onEnd?: (books: Books) => Promise<void>
}

/**
 * Plays the sequences on one clock, each with its own customer and with `hours` between the rounds, and checks them. The customers
 * share only the provider, the clock and the scheduled jobs.
 */
export async function playBatch(
  stores: Stores,
  sequences: readonly Sequence[],
  hours: readonly number[],
  { afterRound, onEnd }: BatchHooks = {},
): Promise<readonly Fault[]> {
  const world = await MoneyWorld.open(stores, [], longTimeoutMs, sentEvents)
  try {
    const market = await openMarket(stores)
    const faults = new Map<number, Fault>()
    const players: Player[] = []
    const active = new Set<string>()
    for (const _ of sequences) {
      players.push(createPlayer(world, market, await addCustomer(stores, market), active))
    }
    const check = async (at: number, body: () => Promise<void>): Promise<void> => {
      if (faults.has(at)) return
      await body().catch((error: unknown) => {
        const steps = JSON.stringify({ hours, steps: sequences[at] })
        faults.set(at, { steps, error: error instanceof Error ? error.stack! : String(error) })
      })
    }
    for (const [round, pause] of hours.entries()) {
      for (let place = 0; place < stepsMax; place += 1) {
        const left = players.entries()
        const playLeft = async (): Promise<void> => {
          for (const [at, player] of left) {
            const step = sequences[at]![round]![place]
            if (step !== undefined) await check(at, () => playStep(player, step))
          }
        }
        await Promise.all(Array.from({ length: togetherMax }, playLeft))
        await world.advanceClock(betweenStepsMs)
      }
      await afterRound?.(round, booksOf({ world, shop: market }))
      await pass(world, pause)
      await readActive(world, market, active)
    }
    for (const pause of finalHours) await pass(world, pause)
    // The processor's fee of the last charges is read 1 minute after them.
    await world.advanceClock(betweenStepsMs)
    await receiveEvents(world)
    const documents = await readDocuments(world, market)
    const processor = await readProcessor(world.simulator.simulator.url)
    for (const [at, player] of players.entries()) {
      await check(at, async () => {
        const facts = await readFacts(player)
        await expectCharged(player, facts)
        await expectDiscounted(player)
        await expectSupported(player, facts)
        expectSettled(player, documents, processor)
      })
    }
    const books = booksOf({ world, shop: market })
    await verifyMoney(books).catch(async (error: unknown) => {
      const steps = await describeOwner(books, players, sequences, error)
      faults.set(-1, { steps: JSON.stringify({ hours, steps }), error: String(error) })
    })
    for (const complaint of world.errors) {
      faults.set(-2, { steps: 'all', error: `complaint: ${String(complaint)}` })
    }
    await onEnd?.(books)
    return [...faults.values()]
  } finally {
    await world.close()
  }
}

/** Returns the steps of the customer whose invoice or payment the error names, or all steps. */
async function describeOwner(
  { sql, providerId }: Books,
  players: readonly Player[],
  sequences: readonly Sequence[],
  error: unknown,
): Promise<Sequence | 'all'> {
  const [reference = ''] = /\b(inv|pay|pi)_\w+/.exec(String(error)) ?? []
  const [owner] = await sql<{ customer: string }[]>`
    select customer_ref as customer from invoices
    where provider_id = ${providerId} and reference = ${reference}
    union all
    select customer_ref from payment_intents
    where provider_id = ${providerId} and reference = ${reference}`
  const at = players.findIndex(({ customer }) => customer.reference === owner?.customer)
  return sequences[at] ?? 'all'
}

/** Moves the clock forward and runs the due jobs. */
async function pass(world: MoneyWorld, hours: number): Promise<void> {
  await receiveEvents(world)
  await world.advanceClock(hours * hourMs)
  await world.actUntilDone((service) => service.bill())
  await receiveEvents(world)
}

/** Replaces `active` by the references of the purchases that are active. */
async function readActive(world: MoneyWorld, { providerId }: Market, active: Set<string>) {
  const rows = await world.stores.postgres.database.in(environment)<{ reference: string }[]>`
    select reference from purchases where provider_id = ${providerId} and status = 'active'`
  active.clear()
  for (const { reference } of rows) active.add(reference)
}

/** Delivers the events, and does the work that they and the payments require. */
async function receiveEvents(world: MoneyWorld): Promise<void> {
  await world.collectWebhooks()
  for (const event of world.webhooks.splice(0)) {
    await world.actUntilDone((service) => service.receive(event))
  }
  await world.actUntilDone(async (service) => {
    while (await service.processInbox());
    await service.reconcilePayments()
    await service.takeBackCredits()
  })
}
