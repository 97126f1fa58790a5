import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideCredit } from '../invoices/decide-credit.ts'
import { decideRefundCredit } from '../invoices/decide-refund-credit.ts'
import type { InvoiceWithLines } from '../invoices/invoice.ts'
import { paidLines } from '../invoices/draft-lines.ts'
import { recomputeInvoice } from '../invoices/recompute-invoice.ts'
import { invoiceLine, totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { LineKind } from '../pricing/line-inputs.ts'
import type { Coupon } from './coupon.ts'
import {
  changedDiscounts,
  creditedDiscountLines,
  discountedMinor,
  discountLines,
  discountOn,
  proratedDiscountLines,
} from './discount-lines.ts'

const at = new Date('2026-03-01T00:00:00Z')

function couponOf(off: { percent: string } | { minor: bigint }): Coupon {
  return {
    reference: 'cpn_1',
    code: null,
    name: 'Launch',
    percentOff: 'percent' in off ? off.percent : null,
    amountOffMinor: 'minor' in off ? off.minor : null,
    currency: 'minor' in off ? 'USD' : null,
    duration: 'forever',
    durationInvoices: null,
    productRefs: [],
    planRefs: [],
    redemptionsMax: null,
    redemptionsPerCustomerMax: null,
    redeemBy: null,
    archivedAt: null,
    createdAt: at,
    updatedAt: at,
  }
}

function line(kind: 'recurring' | 'setup_fee' | 'one_time', amountMinor: number): InvoiceLine {
  return invoiceLine({ kind, amountMinor: String(amountMinor) }, kind, null)
}

const itemLine = (amountMinor: number): InvoiceLine =>
  invoiceLine({ kind: 'item', unitMinor: String(amountMinor), quantity: '1' }, 'item', null)

const hundredths = fc.integer({ min: 1, max: 10_000 })
const off = fc.oneof(
  hundredths.map((each) => ({ percent: String(each / 100) })),
  fc.bigInt({ min: 1n, max: 500_000n }).map((minor) => ({ minor })),
)
const kinds = fc.constantFrom('recurring', 'setup_fee', 'one_time', 'item')
const charged = fc.array(fc.tuple(kinds, fc.nat(300_000)), { minLength: 1, maxLength: 5 })

/** The oracle: hundredths of a percent of each remainder, rounded half away from zero, on numbers that a double holds exactly. */
function expectedOff(
  lines: readonly (readonly [string, number])[],
  offs: readonly ({ percent: string } | { minor: bigint })[],
): number[] {
  let left = lines.reduce((sum, [kind, minor]) => (kind === 'item' ? sum : sum + minor), 0)
  return offs
    .map((each) => {
      const taken =
        'percent' in each
          ? Math.floor((left * Math.round(Number(each.percent) * 100) * 2 + 10_000) / 20_000)
          : Math.min(left, Number(each.minor))
      left -= taken
      return taken
    })
    .filter((taken) => taken > 0)
}

test('takes percentages and amounts off prices like an independent model, and leaves items alone', () => {
  fc.assert(
    fc.property(charged, fc.array(off, { maxLength: 4 }), (given, offs) => {
      const lines = given.map(([kind, minor]) =>
        kind === 'item' ? itemLine(minor) : line(kind as 'recurring', minor),
      )
      const discounts = offs.map((each, index) => ({
        reference: `dsc_${index}`,
        coupon: couponOf(each),
      }))
      const base = discountedMinor(lines)
      const taken = discountLines(base, discounts).map((each) => each.line)
      expect(taken.map(({ amountMinor }) => Number(-amountMinor))).toEqual(expectedOff(given, offs))
      expect(totalOf(taken) + base).toBeGreaterThanOrEqual(0n)
      const all = [...lines, ...taken]
      expect(recomputeInvoice({ lines: all, totalMinor: totalOf(all) })).toEqual([])
    }),
    { numRuns: 2_000 },
  )
})

const tax = fc.record({
  ratePerMille: fc.constantFrom(0n, 70n, 190n, 255n),
  isInclusive: fc.boolean(),
})

function invoiceOf(lines: readonly InvoiceLine[], totalMinor: bigint): InvoiceWithLines {
  return {
    ...{ reference: 'inv_1', number: 1n, status: 'paid', customerRef: 'cus_1', purchaseRef: null },
    ...{ planSnapshot: null, currency: 'USD', totalMinor, carriedMinor: 0n, paidMinor: totalMinor },
    ...{ creditedMinor: 0n, refundedMinor: 0n, isHeld: false, failedCharges: 0 },
    ...{ nextChargeAt: null, countedFailure: null, parties: null, issuedAt: at, dueAt: null },
    ...{ paidAt: at, closedAt: null, createdAt: at, updatedAt: at, lines },
  }
}

test('credit notes and refunds of a discounted invoice never give back more than it charged', () => {
  const credits = fc.array(fc.tuple(fc.nat(7), fc.integer({ min: 1, max: 300_000 })), {
    maxLength: 12,
  })
  fc.assert(
    fc.property(charged, fc.array(off, { maxLength: 2 }), tax, credits, (given, offs, by, acts) => {
      const prices = given.map(([kind, minor]) =>
        kind === 'item' ? itemLine(minor) : line(kind as 'recurring', minor),
      )
      const discounts = offs.map((each, index) => ({
        reference: `dsc_${index}`,
        coupon: couponOf(each),
      }))
      const taken = discountLines(discountedMinor(prices), discounts).map((each) => each.line)
      const rule = {
        treatment: 'standard',
        country: 'FI',
        ratePerMille: `${by.ratePerMille}`,
      } as const
      const lines = paidLines([...prices, ...taken], { rule, isInclusive: by.isInclusive }, 0n)
      const totalMinor = totalOf(lines)
      const invoice = invoiceOf(lines, totalMinor)
      const credited = new Map<number, bigint>()
      let given_ = 0n
      const book = (note: {
        lines: readonly { line: number; amountMinor: bigint }[]
        totalMinor: bigint
      }) => {
        for (const each of note.lines) {
          credited.set(each.line, (credited.get(each.line) ?? 0n) + each.amountMinor)
        }
        given_ += note.totalMinor
      }
      for (const [at, minor] of acts) {
        const part = {
          lines: [{ line: at, amountMinor: BigInt(minor) }],
          settles: 'balance',
        } as const
        const decision = decideCredit(invoice, credited, part)
        if (decision.kind === 'credit') book(decision)
        expect(given_).toBeLessThanOrEqual(totalMinor)
      }
      const rest = decideRefundCredit({
        ...{ invoice, credited, creditableByPeriod: new Map() },
        amountMinor: totalMinor + 1n,
      })
      if (rest !== undefined) book(rest)
      // Everything that is left can be refunded, to the last minor unit.
      expect(given_).toBe(totalMinor)
    }),
    { numRuns: 2_000 },
  )
})

test('refuses a credit of a line at its price if the invoice was discounted', () => {
  const prices = [line('recurring', 1_000)]
  const [taken] = discountLines(1_000n, [{ reference: 'd', coupon: couponOf({ percent: '20' }) }])
  const invoice = invoiceOf([...prices, taken!.line], 800n)
  const part = { lines: [{ line: 0, amountMinor: 801n }], settles: 'balance' } as const
  expect(decideCredit(invoice, new Map(), part)).toEqual({ kind: 'nothing-left', leftMinor: 800n })
})

test('attributes a discount to a part of the lines, rounded up', () => {
  const [recurring, fee] = [line('recurring', 1_000), line('setup_fee', 500)]
  const [taken] = discountLines(1_500n, [{ reference: 'd', coupon: couponOf({ minor: 100n }) }])
  const lines = [recurring, fee, taken!.line]
  const of = (kind: LineKind): bigint => discountOn(lines, ({ inputs }) => inputs.kind === kind)
  expect([of('recurring'), of('setup_fee')]).toEqual([67n, 34n])
})

/** Returns a line that charges the amount for usage of March, or credits it. */
function usage(amountMinor: number): InvoiceLine {
  const inputs = {
    kind: 'minimum',
    ...{ secondsCharged: 1, secondsInPeriod: 1, countedMinor: '0' },
    minimumMinor: String(Math.max(amountMinor, 0)),
    billedMinor: String(Math.max(-amountMinor, 0)),
  } as const
  return invoiceLine(inputs, 'usage', { start: at, end: new Date('2026-04-01T00:00:00Z') })
}

test('discounts nothing that is charged again of credited usage, and leaves the discount that it had', () => {
  const billed = new Map([[at.getTime(), { grossMinor: 3_000n, offMinor: 1_000n }]])
  const backOf = (lines: readonly InvoiceLine[]) => totalOf(creditedDiscountLines(lines, billed))
  const again = [usage(-3_000), usage(2_000)]
  expect([discountedMinor(again), backOf(again)]).toEqual([0n, 333n])
  const more = [usage(-500), usage(300), usage(-1_000), usage(2_000)]
  expect([discountedMinor(more), backOf(more)]).toEqual([800n, 0n])

  const priced = [...again, line('recurring', 2_500)]
  expect(discountedMinor(priced)).toBe(2_500n)
  const discountWith = (baseMinor: bigint): InvoiceLine =>
    discountLines(baseMinor, [{ reference: 'd', coupon: couponOf({ minor: 1_000n }) }])[0]!.line
  const onUsage = (lines: readonly InvoiceLine[]): bigint =>
    discountOn(lines, ({ inputs }) => inputs.kind === 'minimum')
  expect(onUsage([...priced, discountWith(2_500n)])).toBe(0n)
  // An invoice of an earlier release, whose discount was computed on everything.
  expect(onUsage([...priced, discountWith(4_500n)])).toBe(445n)
})

test('a change of plan continues the discount of its period, and credits nothing that was not paid', () => {
  const seconds = { secondsLeft: 15, secondsInPeriod: 30 }
  const all = couponOf({ percent: '100' })
  const before = [
    {
      ...{ discount: { reference: 'd', coupon: all }, periodStart: at },
      ...{ amountMinor: 1_000n, elsewhereMinor: 0n },
    },
  ]
  const lineOf = (newMinor: bigint, isNewInScope: boolean): bigint =>
    totalOf(
      proratedDiscountLines(
        changedDiscounts(before, newMinor, () => isNewInScope),
        seconds,
      ),
    )
  // From 10.00 to 4.00, of which nothing was paid: the credit of 3.00 is taken back.
  expect(lineOf(400n, true)).toBe(300n)
  expect(lineOf(400n, false)).toBe(500n)
  // From 10.00 to 30.00: the difference of 10.00 is discounted too, unless the coupon is for the other plan.
  expect(lineOf(3_000n, true)).toBe(-1_000n)
  expect(lineOf(3_000n, false)).toBe(500n)
})

test('an amount that paid a part of a set-up fee is never taken off twice by changes of plan', () => {
  const prices = fc.integer({ min: 1, max: 9_000 }).map(BigInt)
  fc.assert(
    fc.property(prices, prices, prices, fc.array(prices), (offMinor, price, fee, next) => {
      const coupon = couponOf({ minor: offMinor })
      const lines = [line('recurring', Number(price)), line('setup_fee', Number(fee))]
      const [taken] = discountLines(discountedMinor(lines), [{ reference: 'd', coupon }])
      const all = [...lines, taken!.line]
      const ofPrice = discountOn(all, ({ inputs }) => inputs.kind === 'recurring')
      const elsewhereMinor = -taken!.line.amountMinor - ofPrice
      const discount = { reference: 'd', coupon }
      let held = [{ discount, periodStart: at, amountMinor: ofPrice, elsewhereMinor }]
      for (const newPrice of next) {
        const changed = changedDiscounts(held, newPrice, () => true)
        held = changed.map(({ newMinor, ...each }) => ({
          ...each,
          ...{ periodStart: at, amountMinor: newMinor },
        }))
        const { amountMinor } = held[0]!
        // The coupon gives its whole amount if the price leaves room for it, and no more.
        expect(amountMinor + elsewhereMinor).toBeLessThanOrEqual(offMinor)
        const room = newPrice + elsewhereMinor
        if (room >= offMinor) expect(amountMinor + elsewhereMinor).toBe(offMinor)
      }
    }),
  )
})
