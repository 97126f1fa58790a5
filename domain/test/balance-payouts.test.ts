import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import {
  payOutBalance,
  type PayoutOutcome,
  type PayoutRequest,
} from '../src/invoice-decisions/pay-out-balance.ts'
import { deleteCustomer } from '../src/deletion/delete-customer.ts'
import { listBalanceEntries } from '../src/invoices/balance-entries.ts'
import { listUnbalancedInvoices } from '../src/money-ledger/unbalanced.ts'
import {
  listRefundsOfPayout,
  type RequestedRefund,
} from '../src/payments/requested-refunds-repository.ts'
import { listOutboxEvents } from '../src/outbox/repository.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { returnPayout } from '../src/settlement/return-payout.ts'
import { inWork } from './billed-customers.ts'
import { openRefundWorld, refundAtProcessor, type RefundWorld } from './refund-world.ts'

/* On a real PostgreSQL: what is paid out of a customer's balance, and what the refunds that pay it do to it. */

let testDatabase: TestDatabase
let database: Database
let world: RefundWorld

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
})
afterAll(() => testDatabase.stop())
beforeEach(startProvider)

async function startProvider(): Promise<void> {
  world = await openRefundWorld(database)
}

function payOut(
  request: Pick<PayoutRequest, 'goesTo' | 'amountMinor'>,
  idempotencyKey: string | null = null,
): Promise<PayoutOutcome> {
  const { providerId, customer } = world
  const { customerRef } = customer
  return inWork(database, providerId, (work) =>
    payOutBalance(
      { ...work, idempotencyKey },
      { customerRef, currency: 'USD', reason: 'decided', ...request },
    ),
  )
}

function refundsOf(outcome: PayoutOutcome): Promise<RequestedRefund[]> {
  const { providerId } = world
  if (outcome.kind !== 'paid-out') throw new Error(outcome.kind)
  const { reference } = outcome.payout
  return inWork(database, providerId, ({ sql }) => listRefundsOfPayout(sql, providerId, reference))
}

const report = (request: RequestedRefund, statuses: ('succeeded' | 'failed' | 'pending')[]) =>
  world.report(
    request.intentRef!,
    refundAtProcessor(request.amountMinor, request.reference),
    statuses,
  )

const balance = async () => -Number(await world.of.waiting()) + 0

/** Gives the customer a credit by a credit note on an invoice that was paid by card. */
async function credit(paid: number, credited: number): Promise<string> {
  const reference = await world.paidRenewal([paid])
  await world.decide(reference, { kind: 'credited', amountMinor: BigInt(credited) })
  return reference
}

test('a payout to the card is split over the payments, each up to what it took', async () => {
  await credit(1_000, 400)
  // The first credit pays a part of the second invoice, so its payment takes 1,600.
  const second = await world.paidRenewal([2_000])
  await world.decide(second, { kind: 'credited', amountMinor: 2_000n })
  expect(await balance()).toBe(2_000)
  const requests = await refundsOf(await payOut({ goesTo: 'card' }))
  expect(requests).toHaveLength(2)
  expect(requests.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)).toBe(2_000n)
  expect(await balance()).toBe(0)
})

test('a refund that fails later is shown as failed, tells the provider, and its amount is in the balance again', async () => {
  await credit(1_000, 400)
  const paid = await payOut({ goesTo: 'card' })
  const [request] = await refundsOf(paid)
  const refund = refundAtProcessor(400n, request!.reference)
  await world.report(request!.intentRef!, refund, ['succeeded'])
  expect(await refundsOf(paid)).toMatchObject([{ outcome: 'done' }])
  expect(await balance()).toBe(0)
  await world.report(request!.intentRef!, refund, ['failed'])
  expect(await refundsOf(paid)).toMatchObject([{ status: 'done', outcome: 'failed' }])
  expect(await balance()).toBe(400)
  expect(await failedPayouts()).toEqual([
    { customer: world.customer.customerRef, refund: request!.reference, amount: 400 },
  ])
})

test('the credit of a deleted customer is paid out, also after a refund was refused', async () => {
  const invoiceRef = await credit(1_000, 400)
  const [request] = await refundsOf(await payOut({ goesTo: 'card' }))
  const { providerId, customer } = world
  await inWork(database, providerId, (work) => deleteCustomer(work, customer.customerRef))
  await inWork(database, providerId, (work) =>
    returnPayout(work, request!, { reference: invoiceRef, ...customer }, 'charge_disputed'),
  )
  expect(await failedPayouts()).toHaveLength(1)
  expect(await balance()).toBe(400)
  const other = await payOut({ goesTo: 'other' })
  expect(other).toMatchObject({ kind: 'paid-out', payout: { amountMinor: 400n } })
  expect(await balance()).toBe(0)
  expect((await payOut({ goesTo: 'other' })).kind).toBe('amount')
})

/** Returns what events tell the provider about refunds of payouts that failed. */
async function failedPayouts() {
  const events = await inWork(database, world.providerId, ({ sql, providerId }) =>
    listOutboxEvents(sql, providerId, 1_000),
  )
  return events
    .filter(({ type }) => type === 'customer.balance.payout_failed')
    .map(({ object: { customer, refund, amount } }) => ({ customer, refund, amount }))
}

type Step =
  | { readonly kind: 'credit'; readonly amount: number }
  | { readonly kind: 'card' | 'other'; readonly amount: number | undefined }
  | { readonly kind: 'answer'; readonly ending: 'succeeded' | 'failed' | 'fails later' }

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('credit' as const), amount: fc.integer({ min: 50, max: 900 }) }),
    fc.record({
      kind: fc.constantFrom('card' as const, 'other' as const),
      amount: fc.option(fc.integer({ min: 1, max: 1_500 }), { nil: undefined }),
    }),
    fc.record({
      kind: fc.constant('answer' as const),
      ending: fc.constantFrom('succeeded' as const, 'failed' as const, 'fails later' as const),
    }),
  ),
  { minLength: 1, maxLength: 10 },
)

test('a balance is credited, paid out and returned exactly, in any sequence', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      await startProvider()
      // Every amount that is credited was paid by card before, so only open and successful refunds use up the cards.
      let [credits, onCards, clearing, outside, revenue] = [0, 0, 0, 0, 0]
      let open: RequestedRefund[] = []
      const paidFirst = 1_000
      for (const step of all) {
        switch (step.kind) {
          case 'credit': {
            const before = credits
            await credit(paidFirst, step.amount)
            // An earlier credit pays for a part of the invoice, which the card pays less.
            const used = Math.min(before, paidFirst)
            const byCard = paidFirst - used < 50 ? 0 : paidFirst - used
            const carriedOver = paidFirst - used - byCard
            credits = before - used - carriedOver + step.amount
            onCards += byCard
            clearing += byCard
            revenue += paidFirst - step.amount
            break
          }
          case 'card':
          case 'other': {
            const most = step.kind === 'card' ? Math.min(credits, onCards) : credits
            const amount = step.amount ?? Math.max(most, 0)
            const isPaid = amount > 0 && amount <= most
            const amountMinor = step.amount === undefined ? undefined : BigInt(step.amount)
            const outcome = await payOut({ goesTo: step.kind, amountMinor })
            expect(outcome.kind).toBe(isPaid ? 'paid-out' : 'amount')
            if (!isPaid) break
            credits -= amount
            if (step.kind === 'other') outside -= amount
            else {
              onCards -= amount
              open = [...open, ...(await refundsOf(outcome))]
            }
            break
          }
          case 'answer': {
            const request = open.shift()
            if (request === undefined) break
            const amount = Number(request.amountMinor)
            if (step.ending === 'succeeded') {
              await report(request, ['pending', 'succeeded'])
              clearing -= amount
            } else {
              await report(request, step.ending === 'failed' ? ['failed'] : ['succeeded', 'failed'])
              credits += amount
              onCards += amount
            }
          }
        }
        expect(await balance()).toBe(credits)
        const openMinor = open.reduce((sum, { amountMinor }) => sum + Number(amountMinor), 0)
        const { refunds = 0, ...accounts } = await world.of.accounts()
        // The refunds that are requested were posted as owed by the balance, and not by the processor yet.
        expect(refunds).toBe(-openMinor + 0)
        const amounts = { clearing, outside, carried: -credits, revenue: -revenue }
        expect(accounts).toEqual(
          Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== 0)),
        )
      }
      expect(await listUnbalancedInvoices(database.in('sandbox'), 10)).toEqual([])
      const { providerId, customer } = world
      const { entries } = await inWork(database, providerId, ({ sql }) =>
        listBalanceEntries(sql, providerId, customer.customerRef, { limit: 1_000, offset: 0 }),
      )
      expect(entries.reduce((sum, { amountMinor }) => sum + Number(amountMinor), 0)).toBe(credits)
    }),
    randomRuns(80),
  )
})

test('a payout neither refunds its invoice nor ends the purchase', async () => {
  const reference = await credit(1_000, 900)
  const [request] = await refundsOf(await payOut({ goesTo: 'card' }))
  await report(request!, ['succeeded'])
  expect(await world.of.look(reference)).toMatchObject({ status: 'paid', refundedMinor: 0n })
  expect(await world.refundsOf(reference)).toEqual([])
  expect(await world.statusOfPurchase()).toBe('active')
  // The card can take only the rest now.
  expect(await world.decide(reference, { kind: 'refunded', goesTo: 'card' })).toMatchObject({
    decision: { amountMinor: 100n },
  })
})

test('a payout is made once for a key, and two at the same time pay no more than the credit', async () => {
  await credit(1_000, 600)
  const same = await Promise.all(
    Array.from({ length: 5 }, () => payOut({ goesTo: 'card', amountMinor: 100n }, 'one')),
  )
  for (const each of same) expect(each).toEqual(same[0])
  expect(await balance()).toBe(500)
  expect(await payOut({ goesTo: 'other', amountMinor: 100n }, 'one')).toEqual({
    kind: 'key-reused',
  })
  const both = await Promise.all(
    (['card', 'other'] as const).map((goesTo) => payOut({ goesTo, amountMinor: 400n })),
  )
  expect(both.map(({ kind }) => kind).toSorted()).toEqual(['amount', 'paid-out'])
  expect(await balance()).toBe(100)
})
