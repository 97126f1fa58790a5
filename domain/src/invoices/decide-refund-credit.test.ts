import fc from 'fast-check'
import { expect, test } from 'vitest'
import { invoiceLine, totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { LineInputs } from '../pricing/line-inputs.ts'
import { taxLines } from '../pricing/tax-line.ts'
import { decideRefundCredit } from './decide-refund-credit.ts'
import type { InvoiceWithLines } from './invoice.ts'

const price = fc
  .integer({ min: 1, max: 9_000 })
  .map((amount): LineInputs => ({ kind: 'recurring', amountMinor: `${amount}` }))

/** Line of a change of plan: a charge or a credit. */
const change = fc
  .record({
    oldMinor: fc.integer({ min: 0, max: 9_000 }).map(String),
    newMinor: fc.integer({ min: 0, max: 9_000 }).map(String),
    secondsLeft: fc.integer({ min: 1, max: 86_400 }),
  })
  .map((terms): LineInputs => ({
    kind: 'proration',
    policy: 'proportional',
    secondsInPeriod: 86_400,
    ...terms,
  }))

/** Amount carried over from earlier invoices: a charge or a credit. */
const carried = fc
  .integer({ min: -500, max: 500 })
  .map((amount): LineInputs => ({ kind: 'carried_in', amountMinor: `${amount}` }))

const invoiceLines = fc
  .record({
    charges: fc.array(fc.oneof(price, price, change), { minLength: 1, maxLength: 5 }),
    carriedIn: fc.option(carried, { nil: undefined }),
    ratePerMille: fc.option(fc.constantFrom('0', '55', '190', '250', '255', '88.75'), {
      nil: undefined,
    }),
    isInclusive: fc.boolean(),
  })
  .map(({ charges, carriedIn, ratePerMille, isInclusive }): InvoiceLine[] => {
    const lines = charges.map((inputs) => invoiceLine(inputs, 'Pro', null))
    const before = carriedIn === undefined ? [] : [invoiceLine(carriedIn, 'Carried over', null)]
    if (ratePerMille === undefined) return [...before, ...lines]
    const rule = { treatment: 'standard', ratePerMille, country: 'SE' } as const
    return [...before, ...lines, ...taxLines(lines, { rule, isInclusive })]
  })

/** Rounds the quotient of non-negative numbers half away from zero. */
function rounded(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor)
}

test('refunds in any order are credited to the last minor unit, with their share of the tax', () => {
  const refunds = fc.array(fc.bigInt({ min: 1n, max: 4_000n }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(invoiceLines, refunds, (lines, amounts) => {
      const charged = lines.filter(({ inputs }) => inputs.kind !== 'carried_in')
      const chargedMinor = totalOf(charged)
      fc.pre(chargedMinor > 0n)
      const invoice = { lines } as unknown as InvoiceWithLines
      const taxAt = lines.findIndex(({ inputs }) => inputs.kind === 'tax')
      const credited = new Map<number, bigint>()
      let creditedMinor = 0n
      // The last amount refunds the rest of the invoice.
      for (const amountMinor of [...amounts, chargedMinor]) {
        const leftMinor = chargedMinor - creditedMinor
        const credit = decideRefundCredit({
          invoice,
          credited,
          amountMinor,
          creditableByPeriod: new Map(),
        })
        if (leftMinor === 0n) {
          expect(credit).toBeUndefined()
          continue
        }
        expect(credit!.totalMinor).toBe(amountMinor < leftMinor ? amountMinor : leftMinor)
        creditedMinor += credit!.totalMinor
        for (const { line, amountMinor: part } of credit!.lines) {
          expect(part).toBeGreaterThan(0n)
          credited.set(line, (credited.get(line) ?? 0n) + part)
          expect(lines[line]!.inputs.kind).not.toBe('carried_in')
          expect(credited.get(line)).toBeLessThanOrEqual(lines[line]!.amountMinor)
        }
        const parts = [...credited].map(([line, part]) => ({ ...lines[line]!, amountMinor: part }))
        expect(totalOf(parts)).toBe(creditedMinor)
        if (taxAt < 0) continue
        const taxMinor = lines[taxAt]!.amountMinor
        const expected = rounded(taxMinor * creditedMinor, chargedMinor)
        expect(credited.get(taxAt) ?? 0n).toBe(expected)
      }
      expect(creditedMinor).toBe(chargedMinor)
    }),
    { numRuns: 2_000 },
  )
})
