import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { invoiceStatuses, type InvoiceStatus } from '@tollgate/schemas/http/invoices'
import {
  decideMove,
  dueMinor,
  invoiceTransitions,
  type InvoiceState,
  type InvoiceTrigger,
} from './transitions.ts'

/*
 * The expected moves of an invoice of 1,000, as state before, trigger, amount and status after. The table is written by
 * hand, independently of the code.
 */
type Row = readonly [
  from: string,
  on: InvoiceTrigger,
  amountMinor: bigint,
  to: InvoiceStatus | 'amount',
]

const nothing = { carriedMinor: 0n, paidMinor: 0n, creditedMinor: 0n, refundedMinor: 0n }

const states: Readonly<Record<string, InvoiceState>> = {
  draft: { status: 'draft', totalMinor: 1_000n, ...nothing },
  'draft of nothing': { status: 'draft', totalMinor: 0n, ...nothing },
  open: { status: 'open', totalMinor: 1_000n, ...nothing },
  'open, partly paid': { status: 'open', totalMinor: 1_000n, ...nothing, paidMinor: 400n },
  'open credit': { status: 'open', totalMinor: -300n, ...nothing },
  uncollectible: { status: 'uncollectible', totalMinor: 1_000n, ...nothing },
  paid: { status: 'paid', totalMinor: 1_000n, ...nothing, paidMinor: 1_000n },
  carried: { status: 'paid', totalMinor: 1_000n, ...nothing, carriedMinor: 1_000n },
  'partly refunded': {
    status: 'partly_refunded',
    totalMinor: 1_000n,
    ...nothing,
    paidMinor: 1_000n,
    refundedMinor: 600n,
  },
  refunded: {
    status: 'refunded',
    totalMinor: 1_000n,
    ...nothing,
    paidMinor: 1_000n,
    refundedMinor: 1_000n,
  },
  void: { status: 'void', totalMinor: 1_000n, ...nothing },
}

const rows: readonly Row[] = [
  ['draft', 'issued', 0n, 'open'],
  ['draft of nothing', 'issued', 0n, 'paid'],
  ['draft', 'voided', 0n, 'void'],
  ['draft of nothing', 'voided', 0n, 'void'],
  ['open', 'paid', 1_000n, 'paid'],
  ['open', 'paid', 999n, 'open'],
  ['open', 'paid', 1_001n, 'amount'],
  ['open', 'paid', 0n, 'amount'],
  ['open', 'paid', -1n, 'amount'],
  ['open', 'carried', 1_000n, 'paid'],
  ['open', 'carried', 45n, 'open'],
  ['open', 'credited', 1_000n, 'paid'],
  ['open', 'credited', 1_001n, 'amount'],
  ['open', 'voided', 0n, 'void'],
  ['open', 'written-off', 0n, 'uncollectible'],
  ['open, partly paid', 'paid', 600n, 'paid'],
  ['open, partly paid', 'paid', 601n, 'amount'],
  ['open, partly paid', 'carried', 600n, 'paid'],
  ['open, partly paid', 'credited', 600n, 'paid'],
  ['open, partly paid', 'written-off', 0n, 'uncollectible'],
  ['open credit', 'carried', -300n, 'paid'],
  ['open credit', 'carried', 1n, 'amount'],
  ['open credit', 'paid', 300n, 'amount'],
  ['open credit', 'credited', 300n, 'amount'],
  ['open credit', 'voided', 0n, 'void'],
  ['uncollectible', 'paid', 1_000n, 'paid'],
  ['uncollectible', 'paid', 500n, 'uncollectible'],
  ['paid', 'refunded', 1_000n, 'refunded'],
  ['paid', 'refunded', 400n, 'partly_refunded'],
  ['paid', 'refunded', 1_001n, 'amount'],
  ['carried', 'refunded', 1n, 'amount'],
  ['partly refunded', 'refunded', 400n, 'refunded'],
  ['partly refunded', 'refunded', 401n, 'amount'],
  ['partly refunded', 'refund-undone', 600n, 'paid'],
  ['partly refunded', 'refund-undone', 100n, 'partly_refunded'],
  ['partly refunded', 'refund-undone', 601n, 'amount'],
  ['refunded', 'refund-undone', 1_000n, 'paid'],
  ['refunded', 'refund-undone', 1n, 'partly_refunded'],
]

const triggers = Object.keys(invoiceTransitions) as InvoiceTrigger[]

test.each(rows)('%s, %s %i: %s', (from, on, amountMinor, to) => {
  const decision = decideMove(states[from]!, on, amountMinor)
  expect(decision.kind === 'moved' ? decision.invoice.status : decision.kind).toBe(to)
})

describe('every other transition is refused', () => {
  test.each(Object.keys(states))('%s', (from) => {
    for (const on of triggers) {
      const isKnown = rows.some((row) => row[0] === from && row[1] === on)
      const { kind } = decideMove(states[from]!, on, 1n)
      expect(kind === 'impossible', `${from}, ${on}`).toBe(!isKnown)
    }
  })
})

test('after any sequence of transitions, the total is paid, carried, credited or due', () => {
  const move = fc.tuple(fc.constantFrom(...triggers), fc.bigInt({ min: -50n, max: 1_100n }))
  const total = fc.bigInt({ min: -500n, max: 1_000n })
  fc.assert(
    fc.property(total, fc.array(move, { maxLength: 12 }), (totalMinor, moves) => {
      let invoice: InvoiceState = { status: 'draft', totalMinor, ...nothing }
      for (const [trigger, amountMinor] of [['issued', 0n] as const, ...moves]) {
        const decision = decideMove(invoice, trigger, amountMinor)
        if (decision.kind === 'moved') invoice = decision.invoice
        const { status, paidMinor, refundedMinor } = invoice
        expect(invoice.totalMinor).toBe(totalMinor)
        expect(paidMinor >= 0n && refundedMinor >= 0n && refundedMinor <= paidMinor).toBe(true)
        const due = dueMinor(invoice)
        expect(totalMinor < 0n ? due <= 0n && due >= totalMinor : due >= 0n).toBe(true)
        if (status === 'paid') expect([due, refundedMinor]).toEqual([0n, 0n])
        if (status === 'refunded') expect(refundedMinor).toBe(paidMinor)
        if (status === 'partly_refunded') expect(refundedMinor > 0n).toBe(true)
        expect(invoiceStatuses).toContain(status)
      }
    }),
  )
})
