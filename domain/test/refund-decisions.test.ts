import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { listUnbalancedInvoices } from '../src/money-ledger/unbalanced.ts'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import { price } from './invoicing.ts'
import {
  amountOf,
  balanceOf,
  refundModel,
  refundSteps,
  startRefundModel,
  type RefundModel,
  type RefundStep,
} from './refund-model.ts'
import { intentOf, openRefundWorld, refundAtProcessor, type RefundWorld } from './refund-world.ts'

/* On a real PostgreSQL: refunds of a paid renewal to the card and to the balance, beside credit notes and refunds at the processor. */

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

/** Requests whose refunds the processor has made, without an answer. */
type Unanswered = { readonly requestRef: string; readonly amountMinor: bigint }[]

async function apply(
  invoiceRef: string,
  model: RefundModel,
  step: RefundStep,
  unanswered: Unanswered,
): Promise<void> {
  const amount = amountOf(model, step)
  const given = 'amount' in step ? { amountMinor: BigInt(step.amount) } : {}
  switch (step.kind) {
    case 'credited': {
      const outcome = await world.decide(invoiceRef, { kind: 'credited', ...given })
      expect(outcome.kind === 'decided').toBe(amount > 0)
      return
    }
    case 'to balance':
    case 'to card': {
      const goesTo = step.kind === 'to card' ? 'card' : 'balance'
      const outcome = await world.decide(invoiceRef, { kind: 'refunded', goesTo, ...given })
      expect(outcome.kind === 'decided', JSON.stringify(outcome, text)).toBe(amount > 0)
      if (outcome.kind !== 'decided' || step.kind === 'to balance') return
      const { refundRef: requestRef, amountMinor } = outcome.decision
      expect(Number(amountMinor)).toBe(amount)
      if (step.isKnown)
        await world.report(intentOf(invoiceRef), refundAtProcessor(amountMinor, requestRef!))
      else unanswered.push({ requestRef: requestRef!, amountMinor })
      return
    }
    case 'answers':
      for (const { requestRef, amountMinor } of unanswered.splice(0))
        await world.report(intentOf(invoiceRef), refundAtProcessor(amountMinor, requestRef))
      return
    case 'at the processor':
      if (amount > 0) await world.report(intentOf(invoiceRef), refundAtProcessor(BigInt(amount)))
  }
}

const text = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

function accountsOf(model: RefundModel): Record<string, number> {
  const { charged, card, refunded } = model
  const amounts = {
    // What the customer has kept is revenue. More than everything cannot be returned.
    revenue: -(charged - refunded - balanceOf(model)),
    clearing: card - refunded,
    outside: charged - card,
    carried: -balanceOf(model),
  }
  return Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== 0))
}

test('refunds, credits and refunds at the processor return exactly what a model expects, and nothing twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 30, max: 4_000 }), { minLength: 1, maxLength: 3 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom('outside', 'by a credit'),
      refundSteps,
      async (amounts, otherShare, otherwise, steps) => {
        await startProvider()
        const charged = amounts.reduce((sum, each) => sum + each, 0)
        const other = Math.floor(charged * otherShare * 0.9)
        fc.pre(charged - other >= 50)
        // A smaller amount is not charged, so the customer has nothing to be credited.
        const isByCredit = otherwise === 'by a credit' && other >= 50
        if (isByCredit) await world.giveCredit(other)
        const reference = await world.paidRenewal(amounts, isByCredit ? 0 : other)
        const card = charged - other
        let model = startRefundModel(charged, card, isByCredit ? card : charged)
        const unanswered: Unanswered = []
        for (const step of steps) {
          await apply(reference, model, step, unanswered)
          model = refundModel(model, step)
          expect(await world.of.accounts()).toEqual(accountsOf(model))
          expect(-Number(await world.of.waiting()) + 0).toBe(balanceOf(model))
          expect(await world.statusOfPurchase()).toBe(model.isEnded ? 'refunded' : 'active')
        }
        expect(await listUnbalancedInvoices(database.in('sandbox'), 10)).toEqual([])
      },
    ),
    randomRuns(120),
  )
})

test('a refund of the card part ends the purchase if the rest was credited to the balance', async () => {
  const reference = await world.paidRenewal([1_000], 0)
  await world.decide(reference, { kind: 'credited', amountMinor: 300n })
  await world.report(intentOf(reference), refundAtProcessor(700n))
  expect(await world.of.look(reference)).toMatchObject({
    status: 'partly_refunded',
    refundedMinor: 700n,
  })
  expect(await world.statusOfPurchase()).toBe('refunded')
})

test('a refund of the card part ends the purchase only once what a credit paid is returned as well', async () => {
  await world.giveCredit(900)
  const reference = await world.paidRenewal([1_000])
  await world.report(intentOf(reference), refundAtProcessor(100n))
  expect(await world.of.look(reference)).toMatchObject({ status: 'refunded', refundedMinor: 100n })
  expect(await world.statusOfPurchase()).toBe('active')
  const toBalance = { kind: 'refunded', goesTo: 'balance' } as const
  await world.decide(reference, { ...toBalance, amountMinor: 899n })
  expect(await world.statusOfPurchase()).toBe('active')
  await world.decide(reference, toBalance)
  expect(await world.statusOfPurchase()).toBe('refunded')
  expect(await world.of.waiting()).toBe(-900n)
  expect(await world.decide(reference, { kind: 'credited' })).toMatchObject({ kind: 'amount' })
})

test('a refund at the processor after a credit takes the credit back, and gives it again if it fails', async () => {
  const reference = await world.paidRenewal([1_000], 0)
  await world.decide(reference, { kind: 'refunded', goesTo: 'balance' })
  expect(await world.of.waiting()).toBe(-1_000n)
  const refund = refundAtProcessor(1_000n)
  await world.report(intentOf(reference), refund)
  expect(await world.of.waiting()).toBe(0n)
  expect(await world.of.accounts()).toEqual({})
  await world.report(intentOf(reference), refund, ['failed'])
  expect(await world.of.waiting()).toBe(-1_000n)
  expect(await world.of.accounts()).toEqual({ carried: -1_000, clearing: 1_000 })
})

test('a credit that was used before its refund is charged with the next invoice', async () => {
  const reference = await world.paidRenewal([1_000], 0)
  await world.decide(reference, { kind: 'credited' })
  expect((await world.of.look(await world.of.charge(600))).status).toBe('paid')
  await world.report(intentOf(reference), refundAtProcessor(1_000n))
  expect(await world.of.waiting()).toBe(600n)
})

test('a refund that fails after it succeeded leaves the invoice paid, and can be requested again', async () => {
  const reference = await world.paidRenewal([1_000], 0)
  const outcome = await world.decide(reference, {
    kind: 'refunded',
    goesTo: 'card',
    amountMinor: 400n,
  })
  const requestRef = outcome.kind === 'decided' ? outcome.decision.refundRef! : ''
  await world.report(intentOf(reference), refundAtProcessor(400n, requestRef), [
    'pending',
    'succeeded',
    'failed',
  ])
  expect(await world.of.look(reference)).toMatchObject({ status: 'paid', refundedMinor: 0n })
  const listed = await world.refundsOf(reference)
  expect(listed).toMatchObject([{ reference: requestRef, status: 'failed', amountMinor: 400n }])
  expect(await world.decide(reference, { kind: 'refunded', goesTo: 'card' })).toMatchObject({
    decision: { amountMinor: 1_000n },
  })
})

test('a refund is requested once for a key, also by requests at the same time', async () => {
  for (const goesTo of ['card', 'balance'] as const) {
    await startProvider()
    const reference = await world.paidRenewal([1_000], 0)
    const half = { kind: 'refunded', goesTo, amountMinor: 500n } as const
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => world.decide(reference, half, reference)),
    )
    for (const each of outcomes) expect(each).toEqual(outcomes[0])
    const listed = await world.refundsOf(reference)
    expect(listed).toHaveLength(1)
    const other = { ...half, goesTo: goesTo === 'card' ? 'balance' : 'card' } as const
    expect(await world.decide(reference, other, reference)).toEqual({ kind: 'key-reused' })
  }
})

test('two requests at the same time return no more than was paid', async () => {
  const reference = await world.paidRenewal([1_000], 0)
  const outcomes = await Promise.all(
    (['card', 'balance', 'card', 'balance'] as const).map((goesTo) =>
      world.decide(reference, { kind: 'refunded', goesTo, amountMinor: 600n }),
    ),
  )
  expect(outcomes.filter(({ kind }) => kind === 'decided')).toHaveLength(1)
})

test('names what is left, and refuses an open invoice and the card of an invoice that was paid outside', async () => {
  const open = await world.of.bill({ lines: [price(1_000)], parts: ['usage'] })
  const all = { kind: 'refunded', goesTo: 'balance' } as const
  expect(await world.decide(open, all)).toEqual({ kind: 'impossible', status: 'open' })
  await world.decide(open, { kind: 'paid_outside' })
  expect(await world.decide(open, { ...all, goesTo: 'card' })).toEqual({
    kind: 'amount',
    leftMinor: 0n,
  })
  expect(await world.decide(open, { ...all, amountMinor: 1_001n })).toEqual({
    kind: 'amount',
    leftMinor: 1_000n,
  })
})

test('a request of another payment is not completed by a refund that names it', async () => {
  const reference = await world.paidRenewal([1_000])
  const other = await world.paidRenewal([1_000])
  const outcome = await world.decide(reference, {
    kind: 'refunded',
    goesTo: 'card',
    amountMinor: 400n,
  })
  const requestRef = outcome.kind === 'decided' ? outcome.decision.refundRef! : ''
  await world.report(intentOf(other), refundAtProcessor(400n, requestRef))
  expect(await world.refundsOf(reference)).toMatchObject([{ status: 'pending' }])
  expect(await world.of.look(other)).toMatchObject({ refundedMinor: 400n })
})
