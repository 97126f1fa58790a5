import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { deleteCustomer } from '../src/deletion/delete-customer.ts'
import { listBalanceEntries } from '../src/invoices/balance-entries.ts'
import { listUnbalancedInvoices } from '../src/money-ledger/unbalanced.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { applyDispute } from '../src/settlement/apply-dispute.ts'
import { billedAt, inWork } from './billed-customers.ts'
import { intentOf, openRefundWorld, refundAtProcessor, type RefundWorld } from './refund-world.ts'

/* On a real PostgreSQL, disputes take from a balance the credit that had returned their money before. */

let testDatabase: TestDatabase
let database: Database
let world: RefundWorld
let invoiceRef: string
let disputes = 0

beforeAll(async () => {
  testDatabase = await startTestDatabase(migrationsFolder)
  database = testDatabase.database
})
afterAll(() => testDatabase.stop())
beforeEach(startPaidInvoice)

const paidMinor = 1_000

async function startPaidInvoice(): Promise<void> {
  world = await openRefundWorld(database)
  invoiceRef = await world.paidRenewal([paidMinor])
}

/** Returns a dispute whose money the bank has withdrawn and returned in turn. */
function disputeOf(amount: number, movements: number, status: Dispute['status']): Dispute {
  const signs = Array.from({ length: movements }, (_, at) => (at % 2 === 0 ? -1n : 1n))
  return {
    kind: 'dispute',
    id: `dp_${disputes}`,
    status,
    amountMinor: BigInt(amount),
    currency: 'USD',
    reason: 'fraudulent',
    chargeId: 'ch_1',
    paymentIntentId: undefined,
    createdAt: billedAt,
    movements: signs.map((sign, at) => ({
      ...{ id: `txn_${disputes}_${at}`, amountMinor: sign * BigInt(amount) },
      ...{ feeMinor: 0n, netMinor: sign * BigInt(amount), currency: 'USD', restUnits: 0n },
    })),
  }
}

/** Reports the dispute twice, which must change nothing. */
async function report(dispute: Dispute): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    await inWork(database, world.providerId, (work) =>
      applyDispute(work, intentOf(invoiceRef), dispute),
    )
  }
}

const balance = async () => -Number(await world.of.waiting()) + 0
const toBalance = (amount: number) =>
  world.decide(invoiceRef, { kind: 'refunded', goesTo: 'balance', amountMinor: BigInt(amount) })

test('a dispute takes the credit that had returned its money, and gives it back if it is won', async () => {
  disputes += 1
  await toBalance(600)
  await report(disputeOf(paidMinor, 1, 'needs_response'))
  expect(await balance()).toBe(0)
  await report(disputeOf(paidMinor, 2, 'won'))
  expect(await balance()).toBe(600)
  // An older state arrives late.
  await report(disputeOf(paidMinor, 1, 'needs_response'))
  expect(await balance()).toBe(600)
  // The bank decides again.
  await report(disputeOf(paidMinor, 3, 'lost'))
  expect(await balance()).toBe(0)
})

test('the next invoice charges what the customer has used of the credit', async () => {
  disputes += 1
  await toBalance(600)
  await world.paidRenewal([500])
  expect(await balance()).toBe(100)
  await report(disputeOf(paidMinor, 1, 'lost'))
  expect(await balance()).toBe(-500)
  const next = await world.of.look(await world.paidRenewal([2_000]))
  expect(next.totalMinor).toBe(2_500n)
})

test('what a deleted customer has used of the credit is written off', async () => {
  disputes += 1
  await toBalance(600)
  await world.paidRenewal([500])
  const { providerId, customer } = world
  const { customerRef } = customer
  await inWork(database, providerId, async (work) => {
    await work.sql`
      insert into customer_references (provider_id, customer_ref, reference, linked_at)
      values (${providerId}, ${customerRef}, ${customerRef}, now())`
    await deleteCustomer(work, customerRef)
  })
  await report(disputeOf(paidMinor, 1, 'lost'))
  expect(await balance()).toBe(0)
})

test('what a bank has kept is not returned after a later dispute was won', async () => {
  disputes += 1
  await report(disputeOf(paidMinor, 1, 'lost'))
  disputes += 1
  const later = { createdAt: new Date(billedAt.getTime() + 1_000) }
  await report({ ...disputeOf(paidMinor, 2, 'won'), ...later })
  expect(await toBalance(1)).toMatchObject({ kind: 'impossible' })
  expect(await balance()).toBe(0)
})

type Step =
  | { readonly kind: 'to the balance' | 'credited' | 'to the card'; readonly amount: number }
  | { readonly kind: 'disputed'; readonly ending: 'won' | 'lost' }

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constantFrom('to the balance' as const, 'credited' as const, 'to the card' as const),
      amount: fc.integer({ min: 1, max: paidMinor }),
    }),
    fc.record({
      kind: fc.constant('disputed' as const),
      ending: fc.constantFrom('won' as const, 'lost' as const),
    }),
  ),
  { minLength: 1, maxLength: 6 },
)

test('in any sequence, the customer gets what was paid at most once', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      await startPaidInvoice()
      // Amounts that refunds returned to the card, that the bank withdrew, and that notes credited to the balance.
      let [onCard, withdrawn, credited] = [0, 0, 0]
      for (const step of all) {
        if (step.kind === 'disputed') {
          const left = paidMinor - onCard - withdrawn
          if (left === 0) continue
          disputes += 1
          await report(disputeOf(left, 1, 'needs_response'))
          // While the bank has all of the rest, the customer has exactly what was paid.
          expect(onCard + withdrawn + left + (await balance())).toBe(paidMinor)
          if (step.ending === 'won') await report(disputeOf(left, 2, 'won'))
          else {
            await report(disputeOf(left, 1, 'lost'))
            withdrawn += left
          }
        } else if (step.kind === 'to the card') {
          const amount = Math.min(step.amount, paidMinor - onCard - withdrawn)
          if (amount === 0) continue
          await world.report(intentOf(invoiceRef), refundAtProcessor(BigInt(amount)))
          onCard += amount
        } else {
          const change =
            step.kind === 'credited'
              ? ({ kind: 'credited', amountMinor: BigInt(step.amount) } as const)
              : ({ kind: 'refunded', goesTo: 'balance', amountMinor: BigInt(step.amount) } as const)
          const before = await balance()
          const outcome = await world.decide(invoiceRef, change)
          if (outcome.kind === 'decided') credited += step.amount
          expect(await balance()).toBe(before + (outcome.kind === 'decided' ? step.amount : 0))
        }
        const owed = Math.min(paidMinor, credited + onCard + withdrawn)
        expect(onCard + withdrawn + (await balance()), fc.stringify(all)).toBe(owed)
      }
      const { providerId, customer } = world
      const page = { limit: 100, offset: 0 }
      await inWork(database, providerId, async ({ sql }) => {
        expect(await listUnbalancedInvoices(sql, 10)).toEqual([])
        const { entries } = await listBalanceEntries(sql, providerId, customer.customerRef, page)
        const sum = entries.reduce((total, { amountMinor }) => total + amountMinor, 0n)
        expect(sum).toBe(BigInt(await balance()))
      })
    }),
    randomRuns(25),
  )
}, 120_000)
