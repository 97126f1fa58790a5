import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { claimDueTakeBacks } from '../src/payments/take-backs-repository.ts'
import type { PaymentTerms } from './money-model.ts'
import { MoneyWorld } from './money-world.ts'

/*
 * Random flows of money on a real PostgreSQL and a real hot state, with events reported repeatedly and in any order. After
 * every step the ledger and the wallet match an independent model.
 */

let testDatabase: TestDatabase
let database: Database
let worlds = 0

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
})
afterAll(() => testDatabase.stop())

/** Currencies with 0, 2 and 3 decimals by ISO 4217. */
const currencies = ['USD', 'JPY', 'KWD'] as const

const steps = fc.array(
  fc.record({
    does: fc.constantFrom(
      ...(['pay', 'pay', 'use', 'use', 'refund', 'refund', 'move', 'move', 'dispute'] as const),
      ...([
        'win',
        'win',
        'lose',
        'follow',
        'follow',
        'again',
        'correct',
        'settle',
        'pay out',
        'fail payout',
      ] as const),
    ),
    amount: fc.integer({ min: 1, max: 5_000 }),
    at: fc.nat(1_000),
    flag: fc.boolean(),
    currency: fc.constantFrom(...currencies),
  }),
  { minLength: 10, maxLength: 40 },
)
type Step = typeof steps extends fc.Arbitrary<readonly (infer One)[]> ? One : never

test('payments, refunds, disputes and payouts in any order are posted as the model expects', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const world = await MoneyWorld.open(database, (worlds += 1))
      try {
        for (const step of all) {
          await take(world, step)
          await world.check()
        }
        await world.followUp(false)
        await world.check()
        await world.verify()
      } finally {
        await world.close()
      }
    }),
    { ...randomRuns(10, process.env['MONEY_FLOWS_RUNS']), endOnFailure: true },
  )
}, 600_000)

describe('a partly disputed and refunded payment removes the credits of the missing money', () => {
  const terms = { currency: 'USD', total: 2_000n, tax: 0n, credits: 2_000n, fee: 50n } as const
  const grantedBefore = 500n

  async function opened(): Promise<{ world: MoneyWorld; payment: PaymentTerms }> {
    const world = await MoneyWorld.open(database, (worlds += 1))
    await world.pay({ ...terms, settled: ['USD', 2_000n] }, true)
    return { world, payment: world.model.payments[0]! }
  }

  async function expectCredits(world: MoneyWorld, credits: bigint): Promise<void> {
    await world.followUp(false)
    expect(world.model.credits).toBe(grantedBefore + credits)
    await world.check()
  }

  test('a won dispute keeps the effects of a later refund', async () => {
    const { world, payment } = await opened()
    await world.dispute(payment)
    await world.refund(payment, 500n)
    await world.moveRefund(world.refunds[0]!, 'succeeded')
    await expectCredits(world, 0n)
    await world.win(world.disputes[0]!)
    await expectCredits(world, 1_500n)
    await world.moveRefund(world.refunds[0]!, 'failed')
    await expectCredits(world, 2_000n)
    await world.close()
  })

  test('credits are restored before they are removed for another dispute', async () => {
    const { world, payment } = await opened()
    await world.dispute(payment)
    await world.refund(payment, 500n)
    await world.moveRefund(world.refunds[0]!, 'succeeded')
    await world.followUp(false)
    await world.win(world.disputes[0]!)
    const disputeRef = world.disputes[0]!.reported.id
    const claim = async (): Promise<string[]> => {
      const later = new Date(Date.now() + 86_400_000)
      const due = await claimDueTakeBacks(database.in('sandbox'), later, new Date(0), 1_000)
      return due.map(({ reference }) => reference).filter((each) => each.startsWith(disputeRef))
    }
    expect(await claim()).toEqual([disputeRef])
    await world.follow(disputeRef)
    expect(await claim()).toEqual([`${disputeRef}:others`])
    await expectCredits(world, 1_500n)
    await world.close()
  })

  test('a won dispute that withdraws the money again removes the credits again', async () => {
    const { world, payment } = await opened()
    await world.dispute(payment)
    await expectCredits(world, 0n)
    await world.win(world.disputes[0]!)
    await expectCredits(world, 2_000n)
    await world.lose(world.disputes[0]!)
    await expectCredits(world, 0n)
    await world.close()
  })

  test('a dispute that is won, lost and won again restores all credits, even if its first win was missed', async () => {
    const { world, payment } = await opened()
    await world.dispute(payment)
    await expectCredits(world, 0n)
    await world.win(world.disputes[0]!, false)
    await world.lose(world.disputes[0]!)
    await expectCredits(world, 0n)
    await world.win(world.disputes[0]!)
    await expectCredits(world, 2_000n)
    await world.close()
  })

  test('a failed refund keeps the effects of a later dispute', async () => {
    const { world, payment } = await opened()
    await world.refund(payment, 500n)
    await world.moveRefund(world.refunds[0]!, 'succeeded')
    await world.dispute(payment)
    await expectCredits(world, 0n)
    await world.moveRefund(world.refunds[0]!, 'failed')
    await expectCredits(world, 0n)
    await world.win(world.disputes[0]!)
    await expectCredits(world, 2_000n)
    await world.close()
  })
})

async function take(world: MoneyWorld, step: Step): Promise<void> {
  const { does, amount, at, flag, currency } = step
  const { model } = world
  const payment = pick(model.payments, at)
  const refund = pick(world.refunds, at)
  const dispute = pick(world.disputes, at)
  const payout = pick(world.payouts, at)
  switch (does) {
    case 'pay':
      return world.pay(termsOf(step), at % 5 > 0)
    case 'use':
      return world.use(amount)
    case 'correct':
      return world.correct(amount, flag)
    case 'settle':
      return payment && world.settle(payment)
    case 'refund': {
      if (payment === undefined) return
      const left = model.refundable(payment.reference)
      const part = flag || BigInt(amount) > left ? left : BigInt(amount)
      return part > 0n ? world.refund(payment, part) : undefined
    }
    case 'move':
      return refund && world.moveRefund(refund, at % 3 === 0 ? 'failed' : 'succeeded')
    case 'dispute': {
      const isDisputed = world.disputes.some((each) => each.payment === payment)
      return payment === undefined || isDisputed ? undefined : world.dispute(payment)
    }
    case 'win':
      return dispute && world.win(dispute)
    case 'lose':
      if (dispute === undefined) return
      if (flag && dispute.reported.movements.length === 1) await world.win(dispute, false)
      return world.lose(dispute)
    case 'follow':
      return world.followUp(flag)
    case 'again':
      if (refund !== undefined) await world.reportRefund(refund, 'pending')
      if (dispute !== undefined) await world.reportDispute(dispute)
      if (payout !== undefined) await world.reportPayout(payout, 'in_transit')
      return
    case 'pay out':
      return world.payOut(currency)
    case 'fail payout':
      if (payout === undefined) return
      world.payouts.splice(world.payouts.indexOf(payout), 1)
      return world.failPayout(payout)
  }
}

function termsOf({ amount, at, flag, currency }: Step): Omit<PaymentTerms, 'reference'> {
  const total = BigInt(amount) + 500n
  const settledIn = at % 4 === 0 ? 'EUR' : currency
  return {
    currency,
    total,
    // The price includes a tax of 20 %.
    tax: flag && at % 3 > 0 ? (total + 3n) / 6n : 0n,
    // The number of credits per minor unit varies.
    credits: at % 3 > 0 ? (total * 97n) / 10n : 0n,
    settled: [settledIn, settledIn === currency ? total : (total * 11n) / 10n],
    fee: total / 40n + 3n,
  }
}

function pick<Item>(items: readonly Item[], at: number): Item | undefined {
  return items[at % Math.max(items.length, 1)]
}
