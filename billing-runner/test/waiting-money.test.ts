import { randomUUID } from 'node:crypto'
import { postMoney } from '@tollgate/domain/money-ledger/post-money'
import { paymentSucceeded, payoutPaid } from '@tollgate/domain/money-ledger/postings'
import { listOpenClearing } from '@tollgate/domain/money-ledger/open-clearing'
import { receiveEvents, settleEvents } from '@tollgate/domain/payments/inbox-repository'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createReconciliation } from '../src/jobs/reconcile.ts'
import { createJobMetrics } from '../src/metrics.ts'
import { startRunnerStack, type RunnerStack, type Shop } from './runner-stack.ts'

/* Tests the gauges for money that needs a person. */

const dayMs = 86_400_000

let stack: RunnerStack
let shop: Shop

beforeAll(async () => {
  stack = await startRunnerStack()
  stack.clock.set('2026-01-31T12:00:00Z')
  shop = await stack.openShop()
})
afterAll(() => stack.stop())
beforeEach(() => stack.clock.set('2026-03-01T12:00:00Z'))

/** Returns the gauges as the runner sets them after a reconciliation. */
async function gauges(): Promise<Record<string, number | undefined>> {
  const registry = createMetrics('test')
  const { job } = createReconciliation(stack.config(), stack.parts, createJobMetrics(registry))
  if (job.kind !== 'whole') throw new Error('is one piece of work')
  await job.ended('sandbox')
  const value = async (name: string): Promise<number | undefined> => {
    const { values } = await registry.getSingleMetric(name)!.get()
    return values.find(({ labels }) => labels['space'] === 'sandbox')?.value
  }
  return {
    held: await value('tollgate_held_invoices'),
    open: await value('tollgate_open_clearing_currencies'),
  }
}

/** Posts money that arrives at the processor, or leaves it if the amount is negative. */
async function move(currency: string, amountMinor: bigint): Promise<void> {
  await stack.within(shop, async (work) => {
    const [row] = await work.sql<[{ reference: string }]>`select reference from customers limit 1`
    const reference = randomUUID()
    await postMoney(
      work,
      amountMinor > 0n
        ? paymentSucceeded({
            chargeRef: reference,
            customerRef: row.reference,
            currency,
            amountMinor,
            pays: 'refunds',
          })
        : payoutPaid({
            payoutRef: reference,
            currency,
            amountMinor: -amountMinor,
            clearedMinor: -amountMinor,
          }),
    )
  })
}

test('counts an invoice that is too large to be charged, and money that is not paid out', async () => {
  const plan = await stack.addPlan(shop, { price: 999_999_999, billingCycle: 'monthly' })
  stack.clock.set('2026-01-31T12:00:00Z')
  await stack.buy(shop, plan)
  expect(await gauges()).toEqual({ held: 0, open: 0 })
  const pay = (): never => {
    throw new Error('is too large to be charged')
  }
  await stack.runJob('renewals', '2026-03-01T12:00:00Z', pay)
  expect(await gauges()).toEqual({ held: 1, open: 0 })

  await move('USD', 500n)
  stack.clock.set('2026-03-15T11:59:59Z')
  expect(await gauges()).toMatchObject({ open: 0 })
  stack.clock.set('2026-03-15T12:00:01Z')
  expect(await gauges()).toMatchObject({ open: 1 })
  await move('USD', -500n)
  expect(await gauges()).toMatchObject({ open: 0 })
})

/** Computes the oldest day with an open balance, first in, first out. All amounts are matched by sign. */
function openSince(moves: readonly (readonly [day: number, amount: bigint])[]): number | undefined {
  const there: { readonly day: number; left: bigint }[] = []
  for (const [day, amount] of moves) {
    let rest = amount
    while (there[0] !== undefined && rest !== 0n && there[0].left > 0n !== rest > 0n) {
      const [first] = there
      const size = (value: bigint): bigint => (value < 0n ? -value : value)
      const taken = size(rest) < size(first.left) ? rest : -first.left
      first.left += taken
      rest -= taken
      if (first.left === 0n) there.shift()
    }
    if (rest !== 0n) there.push({ day, left: rest })
  }
  return there[0]?.day
}

test('matches outgoing money with the oldest incoming money', { timeout: 300_000 }, async () => {
  const begin = Date.parse('2026-04-01T00:00:00Z')
  let currencies = 0
  const moveOf = fc.record({
    days: fc.integer({ min: 0, max: 4 }),
    amount: fc.bigInt({ min: -60n, max: 60n }).filter((amount) => amount !== 0n),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(moveOf, { maxLength: 12 }), async (moves) => {
      currencies += 1
      const digits = [...currencies.toString(26).padStart(2, '0')]
      const currency = `X${digits.map((each) => String.fromCharCode(65 + parseInt(each, 26))).join('')}`
      let day = 0
      const made: [number, bigint][] = []
      for (const { days, amount } of moves) {
        day += days
        stack.clock.set(new Date(begin + day * dayMs).toISOString())
        await move(currency, amount)
        made.push([day, amount])
      }
      const since = openSince(made)
      for (const days of [0, 1, 3, 7]) {
        const found = await listOpenClearing(
          stack.database.in('sandbox'),
          shop.providerId,
          new Date(begin + (day - days) * dayMs),
        )
        const isOpen = since !== undefined && since < day - days
        expect(found.includes(currency), `${days} days`).toBe(isOpen)
      }
    }),
    { ...randomRuns(40), interruptAfterTimeLimit: 60_000 },
  )
})

test('counts events of the processor that could not be applied for an hour', async () => {
  const sql = stack.database.in('sandbox')
  const ago = (minutes: number): Date => new Date(stack.clock.now() - minutes * 60_000)
  const event = {
    type: 'payment_intent.succeeded',
    objectKind: 'payment_intent',
    account: undefined,
  } as const
  const receive = (id: string, at: Date): Promise<void> =>
    receiveEvents(sql, [{ ...event, id, objectId: `pi_${id}`, createdAt: at }], at)
  await receive('evt_old', ago(61))
  await receive('evt_new', ago(59))
  const runner = stack.createRunner({ TOLLGATE_ADMIN_PORT: '0' })
  await runner.start()
  try {
    const overdue = async (count: number): Promise<void> => {
      const metrics = await (await fetch(`http://127.0.0.1:${runner.adminPort}/metrics`)).text()
      const [, value] =
        /tollgate_processor_events_overdue\{space="sandbox"[^}]*\} (\d+)\n/.exec(metrics) ?? []
      expect(Number(value)).toBe(count)
    }
    await vi.waitFor(() => overdue(1), { timeout: 30_000, interval: 50 })
    await settleEvents(sql, ['evt_old'], ago(0))
    await overdue(0)
  } finally {
    await runner.stop()
  }
})
