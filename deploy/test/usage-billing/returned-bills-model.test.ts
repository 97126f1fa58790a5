import { dueMinor } from '@tollgate/domain/invoices/transitions'
import type { Refund } from '@tollgate/platform/payments/payment-objects'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BillReturns } from './bill-returns.ts'
import { payByCard } from './pay-by-card.ts'
import { postPaid, UsageShop } from './usage-shop.ts'

/*
 * Bills of two periods, each with late usage, are corrected, paid, refunded, credited, given up and disputed at random. The model knows
 * only what the customer has paid and owes, what came back to the card, and the balance: together they never say that the provider
 * keeps less than nothing. The same rule with many more sequences, and its other side, is in
 * `domain/src/invoices/returned-bills-model.test.ts`.
 */

const usageShop = new UsageShop()

const kinds = [
  ...(['use', 'correct', 'correct', 'correct', 'pay', 'pay', 'pay outside'] as const),
  ...(['refund', 'refund', 'fail refund', 'to balance', 'credit', 'dispute'] as const),
  ...(['voided', 'written_off'] as const),
]
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    /** Which bill or which period. */
    of: fc.nat(5),
    units: fc.oneof(fc.constant(0), fc.integer({ min: 50, max: 300 })),
    share: fc.oneof(fc.constant(100), fc.integer({ min: 1, max: 100 })),
  }),
  { minLength: 4, maxLength: 9 },
)
type Step = typeof steps extends fc.Arbitrary<readonly (infer Each)[]> ? Each : never

const firstDays = ['2026-02-10', '2026-03-10']
const periodStarts = [Date.parse('2026-01-01T00:00:00Z'), Date.parse('2026-02-28T12:00:00Z')]

/** What happened to the payments of bills, by the reference of the bill. Minor units. */
class Payments {
  readonly paidByCard = new Map<string, bigint>()
  readonly refunds = new Map<string, Refund[]>()
  readonly disputes = new Map<string, 'open' | 'won'>()

  /** What came back of the payment of the bill. */
  backOf(invoiceRef: string): bigint {
    if (this.disputes.get(invoiceRef) === 'open') return this.paidByCard.get(invoiceRef)!
    const refunds = this.refunds.get(invoiceRef) ?? []
    return refunds.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
  }

  leftOf(invoiceRef: string): bigint {
    return (this.paidByCard.get(invoiceRef) ?? 0n) - this.backOf(invoiceRef)
  }
}

async function play(returns: BillReturns, payments: Payments, step: Step): Promise<void> {
  const { kind, of, units, share } = step
  const period = of % 2
  if (kind === 'use') {
    await usageShop.useLate(returns.purchase, units, `${firstDays[period]}T${10 + of}:00:00Z`)
    return returns.nextBill(usageShop.withDecliningCard)
  }
  if (kind === 'correct') {
    const filter = { fromMs: periodStarts[period]!, toMs: periodStarts[period + 1] }
    const { toMs, ...open } = filter
    const range = toMs === undefined ? open : { ...open, toMs }
    return returns.correctTo(units, range, usageShop.withDecliningCard)
  }
  const invoices = await usageShop.invoicesOf(returns.purchase)
  const invoice = invoices[of % invoices.length]!
  const { reference: ref, status } = invoice
  const due = dueMinor(invoice)
  const part = (amount: bigint): bigint => (amount * BigInt(share) + 99n) / 100n
  const isDisputed = payments.disputes.has(ref)
  switch (kind) {
    case 'pay': {
      const canPay = status === 'open' || status === 'uncollectible'
      if (!canPay || due <= 0n || payments.paidByCard.has(ref)) return
      await payByCard(usageShop, returns.purchase, ref, due)
      payments.paidByCard.set(ref, due)
      return
    }
    case 'refund': {
      const amount = part(payments.leftOf(ref))
      if (isDisputed || amount <= 0n) return
      const refund = await returns.refundByWebhook(ref, amount)
      payments.refunds.set(ref, [...(payments.refunds.get(ref) ?? []), refund])
      return
    }
    case 'fail refund': {
      const [refund, ...others] = payments.refunds.get(ref) ?? []
      if (refund === undefined) return
      await returns.reportRefund(ref, { ...refund, status: 'failed' })
      payments.refunds.set(ref, others)
      return
    }
    case 'dispute': {
      const paid = payments.paidByCard.get(ref)
      if (paid === undefined || payments.disputes.get(ref) === 'won') return
      if (!isDisputed && payments.backOf(ref) > 0n) return
      await returns.dispute(ref, paid, isDisputed ? 'won' : 'needs_response', isDisputed ? 2 : 1)
      payments.disputes.set(ref, isDisputed ? 'won' : 'open')
      return
    }
    case 'pay outside':
      await returns.decide(ref, { kind: 'paid_outside', amountMinor: part(due) })
      return
    case 'to balance':
      await returns.decide(ref, {
        ...{ kind: 'refunded', goesTo: 'balance' },
        amountMinor: part(invoice.paidMinor),
      })
      return
    case 'credit':
      await returns.decide(ref, { kind: 'credited', amountMinor: part(invoice.totalMinor) })
      return
    case 'voided':
    case 'written_off':
      await returns.decide(ref, { kind })
  }
}

/** Returns what the provider keeps of all bills, or is still owed. Minor units. */
async function keptOf(returns: BillReturns, payments: Payments): Promise<bigint> {
  let kept = -BigInt(await returns.balance())
  for (const invoice of await usageShop.invoicesOf(returns.purchase)) {
    const due = invoice.status === 'open' ? dueMinor(invoice) : 0n
    kept += invoice.paidMinor + due - payments.backOf(invoice.reference)
  }
  return kept
}

const { numRuns, seed } = randomRuns(4, process.env['TOLLGATE_TEST_RETURNED_BILLS'])

test.each(Array.from({ length: numRuns }, (_, at) => seed + at))(
  'the customer gets back at most what the bills charged, seed %i',
  async (ownSeed) => {
    const [sequence] = fc.sample(steps, { seed: ownSeed, numRuns: 1 })
    const returns = new BillReturns(usageShop, await usageShop.buy({ ...postPaid, freeUnits: 0 }))
    const payments = new Payments()
    await usageShop.use(returns.purchase, 300, `${firstDays[0]}T00:00:00Z`)
    await usageShop.useLate(returns.purchase, 200, `${firstDays[1]}T00:00:00Z`)
    await usageShop.bill('2026-02-28T13:00:00Z', usageShop.withDecliningCard)
    await returns.nextBill(usageShop.withDecliningCard)
    for (const [at, step] of sequence!.entries()) {
      await play(returns, payments, step)
      const told = `seed ${ownSeed}: ${JSON.stringify(sequence!.slice(0, at + 1))}`
      expect(await keptOf(returns, payments), told).toBeGreaterThanOrEqual(0n)
    }
    await returns.expectBalanced()
  },
)
