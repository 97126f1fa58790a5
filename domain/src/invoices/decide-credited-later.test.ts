import fc from 'fast-check'
import { expect, test } from 'vitest'
import { invoiceLine, totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import { taxLines } from '../pricing/tax-line.ts'
import type { TaxTerms } from '../tax/tax-rule.ts'
import type { BillOfUsage } from './bill-of-usage.ts'
import { decideCreditableUsage, decideCreditedLater } from './decide-credited-later.ts'
import { decideRefundCredit, sumCharged } from './decide-refund-credit.ts'
import type { InvoiceWithLines } from './invoice.ts'

const dayMs = 86_400_000
const vat: TaxTerms = {
  rule: { treatment: 'standard', country: 'DE', ratePerMille: '190' },
  isInclusive: false,
}

/** Returns a line that charges the amount for usage of a period, or credits it. */
function usage(amountMinor: number, period = 0): InvoiceLine {
  const inputs = {
    kind: 'minimum',
    ...{ secondsCharged: 1, secondsInPeriod: 1, countedMinor: '0' },
    minimumMinor: String(Math.max(amountMinor, 0)),
    billedMinor: String(Math.max(-amountMinor, 0)),
  } as const
  const start = new Date(period * dayMs)
  return invoiceLine(inputs, 'usage', { start, end: new Date((period + 1) * dayMs) })
}

function bill(
  reference: string,
  lines: readonly InvoiceLine[],
  tax: readonly TaxTerms[] = [],
): BillOfUsage {
  const all = [...lines, ...tax.flatMap((terms) => taxLines(lines, terms))]
  return {
    ...{ reference, isVoid: false, credited: new Map(), lostMinor: 0n, takenMinor: 0n },
    lines: all,
  }
}

const laterOf = (reference: string, bills: readonly BillOfUsage[]) =>
  Number(decideCreditedLater(reference, bills).amountMinor)

test('a credit counts for the bill of its period, with its tax', () => {
  const bills = [bill('one', [usage(300)], [vat]), bill('two', [usage(-100), usage(500, 1)], [vat])]
  expect(decideCreditedLater('one', bills)).toEqual({
    ...{ amountMinor: 119n, taxMinor: 19n, returnedMinor: 119n, lostMinor: 0n },
    creditableByPeriod: new Map([[0, 200n]]),
  })
  expect(laterOf('two', bills)).toBe(0)
})

test('a credit that other charges of its invoice equal has the tax of the bill', () => {
  const bills = [bill('one', [usage(300)], [vat]), bill('two', [usage(-100), usage(100, 1)], [vat])]
  expect(laterOf('one', bills)).toBe(119)
})

test('a void credit, and one that was taken back for another bill, do not count', () => {
  const [one, two, credit] = [
    bill('one', [usage(300)]),
    bill('two', [usage(200)]),
    bill('credit', [usage(-400)]),
  ]
  expect(laterOf('one', [one, two, credit])).toBe(200)
  expect(laterOf('one', [one, two, { ...credit, isVoid: true }])).toBe(0)
  expect(laterOf('one', [one, { ...two, isVoid: true, takenMinor: 150n }, credit])).toBe(250)
})

test('a credit that has returned another bill does not count again, after late usage', () => {
  const bills = [
    ...[bill('one', [usage(300)]), bill('two', [usage(-300)])],
    ...[bill('three', [usage(200)]), bill('four', [usage(-200)])],
  ]
  expect(laterOf('three', bills)).toBe(200)
  expect(laterOf('one', bills)).toBe(300)
})

test('what a bank has withdrawn, or may withdraw, is not left to be credited', () => {
  const [one, two, credit] = [
    bill('one', [usage(300)]),
    bill('two', [usage(200)]),
    bill('credit', [usage(-400)]),
  ]
  expect(laterOf('one', [one, { ...two, lostMinor: 150n }, credit])).toBe(300)
  expect(laterOf('two', [{ ...one, lostMinor: 50n }, two, credit])).toBe(150)
})

test('a refund takes usage last that a later bill has credited, and its bill is credited no further', () => {
  const late = bill('late', [usage(200), usage(500, 1)])
  const bills = [late, bill('credit', [usage(-200)])]
  const { creditableByPeriod } = decideCreditedLater('late', bills)
  const invoice = { lines: late.lines } as InvoiceWithLines
  const of = { invoice, credited: new Map<number, bigint>(), creditableByPeriod }
  expect(decideRefundCredit({ ...of, amountMinor: 500n })!.lines).toEqual([
    { line: 1, amountMinor: 500n },
  ])
  const lost = [{ ...late, lostMinor: 500n }, bills[1]!]
  expect(decideCreditableUsage(lost, new Map([[dayMs, 357n]]))).toEqual(new Map([[dayMs, 0n]]))
})

test('a bill after the credit does not explain it', () => {
  const bills = [bill('one', [usage(300)]), bill('two', [usage(-300)]), bill('three', [usage(300)])]
  expect(laterOf('one', bills)).toBe(300)
  expect(laterOf('three', bills)).toBe(0)
})

/** Returns everything that is left of the bill, and credits it. */
function returnRest(bills: BillOfUsage[], at: number): bigint {
  const own = bills[at]!
  const { chargedMinor, creditedMinor } = sumCharged(own.lines, own.credited)
  const { creditableByPeriod, ...later } = decideCreditedLater(own.reference, bills)
  const amountMinor = chargedMinor - creditedMinor - later.amountMinor
  if (amountMinor <= 0n) return 0n
  const invoice = { lines: own.lines } as InvoiceWithLines
  const { credited } = own
  const credit = decideRefundCredit({ invoice, credited, amountMinor, creditableByPeriod })!
  bills[at] = {
    ...own,
    credited: new Map(credit.lines.map(({ line, amountMinor: minor }) => [line, minor])),
  }
  return credit.totalMinor
}

test('the bills of a period and their credits return at most what they charge, in any order', () => {
  const charges = fc.array(fc.integer({ min: 1, max: 50_000 }), { minLength: 1, maxLength: 4 })
  const order = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 })
  fc.assert(
    fc.property(
      charges,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom([], [vat], [{ ...vat, isInclusive: true }]),
      order,
      (amounts, share, tax, sequence) => {
        const sum = amounts.reduce((all, each) => all + each, 0)
        const credited = Math.floor(sum * share)
        const bills = amounts.map((amount, at) => bill(`bill-${at}`, [usage(amount)], tax))
        const credit = bill('credit', [usage(-credited)], tax)
        bills.push(credit)
        const charged = bills.slice(0, -1).reduce((all, { lines }) => all + totalOf(lines), 0n)
        const byCredit = -totalOf(credit.lines)
        let returned = byCredit
        for (const at of sequence) if (at < amounts.length) returned += returnRest(bills, at)
        // Each bill rounds its own tax, so the credit of several can exceed theirs by a cent each.
        const most = charged > byCredit ? charged : byCredit
        expect(returned <= most).toBe(true)
        expect(charged - returned <= BigInt(amounts.length)).toBe(true)
      },
    ),
    { numRuns: 1_000 },
  )
})
