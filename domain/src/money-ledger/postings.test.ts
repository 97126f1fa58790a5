import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { MoneyAccount } from './ledger.ts'
import {
  creditNoteIssued,
  creditNoteVoided,
  disputeReinstated,
  disputeWithdrawn,
  invoiceCarried,
  invoiceIssued,
  invoiceVoided,
  invoiceWrittenOff,
  paymentSettled,
  paymentSucceeded,
  payoutFailed,
  payoutPaid,
  refundFailed,
  refundPending,
  refundSettled,
  refundSucceeded,
  type Posting,
} from './postings.ts'

const customerRef = 'cus_1'
const currency = 'USD'
const invoiceRef = 'inv_1'
const issued = { reference: invoiceRef, customerRef, currency, sells: 'revenue' } as const

/** Returns sums by account and currency, without sums of 0. */
function balances(postings: readonly Posting[]): Record<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const { entries } of postings) {
    for (const entry of entries) {
      const name =
        entry.currency === currency ? entry.account : `${entry.account} ${entry.currency}`
      sums.set(name, (sums.get(name) ?? 0n) + entry.amountMinor)
    }
  }
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n))
}

/** Returns one posting of each kind, over the amount. */
function all(amountMinor: bigint, fee: bigint, name = '1'): Posting[] {
  const money = { customerRef, currency, amountMinor }
  const dispute = { ...money, disputeRef: `dp_${name}`, feeMinor: fee }
  const refund = { ...money, refundRef: `re_${name}`, taxMinor: amountMinor / 4n }
  const payout = { currency, amountMinor, payoutRef: `po_${name}`, clearedMinor: amountMinor + 1n }
  const invoice = {
    ...issued,
    reference: `inv_${name}`,
    chargedMinor: amountMinor,
    taxMinor: amountMinor / 5n,
    carriedInMinor: -fee,
  }
  const ofInvoice = { ...money, invoiceRef: invoice.reference }
  return [
    invoiceIssued(invoice),
    invoiceVoided(invoice),
    invoiceCarried({ ...ofInvoice, step: 'issue' }),
    invoiceWrittenOff(ofInvoice),
    ...(['revenue', 'prepaid'] as const).flatMap((sold) =>
      (['invoice', 'balance', 'refund'] as const).flatMap((settles) => {
        const reference = `crn_${name}_${sold}_${settles}`
        const note = { ...ofInvoice, reference, sold, settles, taxMinor: amountMinor / 2n }
        return [creditNoteIssued(note), creditNoteVoided(note)]
      }),
    ),
    ...(['receivable', 'written_off', 'refunds'] as const).map((pays) =>
      paymentSucceeded({ ...money, chargeRef: `ch_${name}_${pays}`, pays }),
    ),
    paymentSettled({
      customerRef,
      chargeRef: `ch_${name}_settled`,
      charged: { currency, amountMinor },
      settled: { currency: 'EUR', amountMinor: amountMinor - 1n },
      feeMinor: fee,
    }),
    refundPending(refund),
    refundSucceeded(refund),
    refundFailed({ ...refund, hadSucceeded: true }),
    ...(['settled', 'failure-settled'] as const).map((step) =>
      refundSettled({
        customerRef,
        refundRef: refund.refundRef,
        step,
        charged: { currency, amountMinor: -amountMinor },
        settled: { currency: 'EUR', amountMinor: 1n - amountMinor },
        feeMinor: fee,
      }),
    ),
    disputeWithdrawn({ ...dispute, step: 'txn_1' }),
    disputeReinstated({ ...dispute, step: 'txn_2' }),
    payoutPaid(payout),
    payoutFailed(payout),
  ]
}

const amounts = fc.bigInt({ min: 2n, max: 10n ** 12n })

test('every posting sums to 0 in each currency and has no entry of 0', () => {
  fc.assert(
    fc.property(amounts, amounts, (amount, fee) => {
      for (const posting of all(amount, fee)) {
        const sums = new Map<string, bigint>()
        for (const entry of posting.entries) {
          expect(entry.amountMinor).not.toBe(0n)
          sums.set(entry.currency, (sums.get(entry.currency) ?? 0n) + entry.amountMinor)
        }
        expect([...sums.values()].every((sum) => sum === 0n)).toBe(true)
      }
    }),
  )
})

test('every posting has a unique key, and the same key when its event is reported again', () => {
  const keys = ['1', '2'].flatMap((name) => all(100n, 3n, name).map(({ key }) => key))
  expect(new Set(keys).size).toBe(keys.length)
  // A different amount keeps the key. Posting it again then fails because the entries differ.
  expect(all(999n, 1n, '1').map(({ key }) => key)).toEqual(keys.slice(0, keys.length / 2))
})

describe('reversed postings leave all accounts at 0', () => {
  const money = { customerRef, currency, amountMinor: 500n }
  const refund = { ...money, refundRef: 're_1', taxMinor: 80n }
  const dispute = { ...money, disputeRef: 'dp_1', step: 'txn_1', feeMinor: 15n }
  const payout = { currency, amountMinor: 500n, payoutRef: 'po_1', clearedMinor: 501n }
  const invoice = { ...issued, chargedMinor: 700n, taxMinor: 120n, carriedInMinor: -200n }
  const credits = { ...invoice, sells: 'prepaid' } as const
  const note = {
    ...money,
    invoiceRef,
    reference: 'crn_1',
    settles: 'refund',
    taxMinor: 80n,
  } as const

  test.each<[string, Posting[]]>([
    ['an invoice that was voided', [invoiceIssued(invoice), invoiceVoided(invoice)]],
    ['an invoice of credits that was voided', [invoiceIssued(credits), invoiceVoided(credits)]],
    ...(['revenue', 'prepaid'] as const).map((sold): [string, Posting[]] => [
      `a credit note of ${sold} that was voided`,
      [creditNoteIssued({ ...note, sold }), creditNoteVoided({ ...note, sold })],
    ]),
    [
      'a refund that failed',
      [refundPending(refund), refundFailed({ ...refund, hadSucceeded: false })],
    ],
    [
      'a refund that failed after it had succeeded',
      [
        refundPending(refund),
        refundSucceeded(refund),
        refundFailed({ ...refund, hadSucceeded: true }),
      ],
    ],
    ['a dispute that was won', [disputeWithdrawn(dispute), disputeReinstated(dispute)]],
    ['a payout that failed', [payoutPaid(payout), payoutFailed(payout)]],
  ])('%s', (_, postings) => {
    expect(balances(postings)).toEqual({})
  })
})

test.each([
  ['revenue', 'invoice', { revenue: 420n, tax: 80n, receivable: -500n }],
  ['prepaid', 'invoice', { prepaid: 420n, tax: 80n, receivable: -500n }],
  ['prepaid', 'balance', { refunds: 420n, tax: 80n, carried: -500n }],
  ['prepaid', 'refund', { tax: 80n, refunds: -80n }],
] as const)('posts a credit note of %s for the %s', (sold, settles, expected) => {
  const of = { customerRef, currency, invoiceRef, reference: 'crn_1', sold, settles }
  const note = creditNoteIssued({ ...of, amountMinor: 500n, taxMinor: 80n })
  expect(balances([note])).toEqual(expected)
})

test('an event that moves no money has no entries', () => {
  const nothing = { chargedMinor: 0n, taxMinor: 0n, carriedInMinor: 0n }
  expect(invoiceIssued({ ...issued, ...nothing }).entries).toEqual([])
  const same = { currency, amountMinor: 100n }
  const settled = { customerRef, chargeRef: 'ch_1', charged: same, settled: same, feeMinor: 0n }
  expect(paymentSettled(settled).entries).toEqual([])
})

test('after the payouts of a month, the clearing and receivable accounts are at 0', () => {
  const sale = fc.record({
    amount: fc.bigInt({ min: 50n, max: 10n ** 7n }),
    becomes: fc.constantFrom('paid', 'refunded', 'refund-failed', 'disputed', 'won', 'unpaid'),
    isForeign: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(sale, { maxLength: 30 }), (sales) => {
      const month = sales.flatMap(({ amount, becomes, isForeign }, at) => {
        const money = { customerRef, currency, amountMinor: amount }
        const postings = [
          invoiceIssued({
            ...issued,
            reference: `inv_${at}`,
            chargedMinor: amount,
            taxMinor: 0n,
            carriedInMinor: 0n,
          }),
        ]
        if (becomes === 'unpaid') {
          return [...postings, invoiceWrittenOff({ ...money, invoiceRef: `inv_${at}` })]
        }
        const paid = [
          ...postings,
          paymentSucceeded({ ...money, chargeRef: `ch_${at}`, pays: 'receivable' }),
          paymentSettled({
            customerRef,
            chargeRef: `ch_${at}`,
            charged: money,
            settled: isForeign ? { currency: 'EUR', amountMinor: amount / 2n + 1n } : money,
            feeMinor: amount / 40n,
          }),
        ]
        const refund = { ...money, refundRef: `re_${at}` }
        const dispute = { ...money, disputeRef: `dp_${at}`, feeMinor: 15n }
        switch (becomes) {
          case 'refunded':
            return [...paid, refundPending(refund), refundSucceeded(refund)]
          case 'refund-failed':
            return [
              ...paid,
              refundPending(refund),
              refundSucceeded(refund),
              refundFailed({ ...refund, hadSucceeded: true }),
            ]
          case 'disputed':
            return [...paid, disputeWithdrawn({ ...dispute, step: 'out' })]
          case 'won':
            return [
              ...paid,
              disputeWithdrawn({ ...dispute, step: 'out' }),
              disputeReinstated({ ...dispute, step: 'in' }),
            ]
          default:
            return paid
        }
      })
      const before = balances(month)
      const payouts = (['USD', 'EUR'] as const).map((paidIn) => {
        const account: MoneyAccount = 'clearing'
        const amountMinor = before[paidIn === currency ? account : `${account} ${paidIn}`] ?? 0n
        return payoutPaid({
          currency: paidIn,
          amountMinor,
          clearedMinor: amountMinor,
          payoutRef: `po_${paidIn}`,
        })
      })
      const after = balances([...month, ...payouts])
      expect([after['clearing'], after['clearing EUR'], after['receivable']]).toEqual([
        undefined,
        undefined,
        undefined,
      ])
      const sold = sales.reduce((sum, { amount }) => sum + amount, 0n)
      expect(-(after['revenue'] ?? 0n)).toBe(sold)
    }),
  )
})
