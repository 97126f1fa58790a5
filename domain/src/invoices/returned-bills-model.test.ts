import fc from 'fast-check'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { expect, test } from 'vitest'
import { partFromBalance } from '../payments/part-from-balance.ts'
import { atLeastZero, lesser, sumOf } from '../money/amounts.ts'
import { invoiceLine, totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import { taxLines } from '../pricing/tax-line.ts'
import type { TaxTerms } from '../tax/tax-rule.ts'
import { creditsIn, netIn, type BillOfUsage } from './bill-of-usage.ts'
import { decideCreditableUsage, decideCreditedLater } from './decide-credited-later.ts'
import { decideGivenUpCredit } from './decide-given-up-credit.ts'
import { decideRefundCredit, sumCharged } from './decide-refund-credit.ts'
import type { InvoiceWithLines } from './invoice.ts'

/*
 * A customer's bills of the usage of two periods, which are corrected again and again, paid, refunded, credited, given up and disputed at
 * random. The model knows only what the customer has paid and owes, what came back to the card, the balance, and what the usage is worth.
 */

const periods = [0, 1] as const
const dayMs = 86_400_000

type Note = { readonly lines: ReadonlyMap<number, bigint>; readonly goesToBalance: boolean }
type Refund = { readonly amount: bigint; readonly fromBalance: bigint; readonly note: Note }

/** A bill with what happened to it. */
type Bill = {
  readonly reference: string
  readonly lines: readonly InvoiceLine[]
  status: 'open' | 'paid' | 'void' | 'uncollectible'
  /** Paid by card, and by other means. */
  card: bigint
  outside: bigint
  /** Credited of an open bill. */
  credited: bigint
  refunded: bigint
  notes: Note[]
  refunds: Refund[]
  /** Credit that was taken from the balance, because the bill was given up, or for a dispute. */
  givenUp: bigint
  forDispute: bigint
  /** Whether credit was taken from the balance at some time. */
  isTaken: boolean
  disputed: 'no' | 'open' | 'won'
}

const price = (bill: Bill) => totalOf(bill.lines)
const paidOf = (bill: Bill) => bill.card + bill.outside
const dueOf = (bill: Bill) => atLeastZero(price(bill)) - paidOf(bill) - bill.credited
const backOnCard = (bill: Bill) =>
  sumOf(bill.refunds.map(({ amount }) => amount)) + (bill.disputed === 'open' ? bill.card : 0n)

function creditedOf({ notes }: Bill): Map<number, bigint> {
  const all = new Map<number, bigint>()
  for (const { lines } of notes) {
    for (const [line, minor] of lines) all.set(line, (all.get(line) ?? 0n) + minor)
  }
  return all
}

function toBillOfUsage(bill: Bill): BillOfUsage {
  const disputed = bill.disputed === 'open' ? bill.card - bill.forDispute : 0n
  return {
    ...{ reference: bill.reference, isVoid: bill.status === 'void', lines: bill.lines },
    credited: creditedOf(bill),
    lostMinor: (bill.status === 'uncollectible' ? dueOf(bill) : 0n) + disputed,
    takenMinor: bill.givenUp,
  }
}

const draw = (whole: bigint, share: number) => (whole * BigInt(share)) / 100n

class Customer {
  readonly bills: Bill[] = []
  balance = 0n
  readonly worth = [0n, 0n]
  /** Credits of bills that were voided, which gives up their charges less these credits. */
  voidCredits = 0n
  readonly #tax: readonly TaxTerms[]

  constructor(tax: readonly TaxTerms[]) {
    this.#tax = tax
  }

  usage(): BillOfUsage[] {
    return this.bills.map(toBillOfUsage)
  }

  /** Bills what the usage of each period costs now, less what bills before have charged, and `other` for something else. */
  bill(other: bigint): void {
    const bills = this.usage()
    const billed = periods.map((period) => sumOf(bills.map((bill) => netIn(bill, period * dayMs))))
    const wanted = periods.flatMap((period) => {
      const over = billed[period]! - this.worth[period]!
      return over > 0n ? [[period * dayMs, over] as const] : []
    })
    const creditable = decideCreditableUsage(bills, new Map(wanted))
    const lines = periods.flatMap((period) => {
      const credit = creditable.get(period * dayMs)
      const amount = credit === undefined ? this.worth[period]! - billed[period]! : -credit
      return amount === 0n ? [] : [usageLine(amount, period)]
    })
    if (other > 0n) {
      lines.push(invoiceLine({ kind: 'recurring', amountMinor: `${other}` }, 'plan', null))
    }
    if (lines.length === 0) return
    const taxed = [...lines, ...this.#tax.flatMap((terms) => taxLines(lines, terms))]
    const bill: Bill = {
      ...{ reference: `bill-${this.bills.length}`, lines: taxed, card: 0n, outside: 0n },
      ...{ credited: 0n, refunded: 0n, notes: [], refunds: [], givenUp: 0n, forDispute: 0n },
      isTaken: false,
      ...{ status: totalOf(taxed) > 0n ? 'open' : 'paid', disputed: 'no' },
    }
    this.bills.push(bill)
    this.balance -= lesser(totalOf(taxed), 0n)
  }

  pay(bill: Bill, amount: bigint, by: 'card' | 'outside'): void {
    if (amount <= 0n || bill.status === 'void' || bill.status === 'paid') return
    if (bill.refunds.length > 0 || bill.disputed !== 'no') return
    const wasClosed = bill.status === 'uncollectible'
    bill[by] += amount
    if (dueOf(bill) === 0n) bill.status = 'paid'
    if (wasClosed) this.takeGivenUp(bill)
  }

  giveUp(bill: Bill, status: 'void' | 'uncollectible'): void {
    if (bill.status !== 'open' || dueOf(bill) <= 0n) return
    if (status === 'void' && dueOf(bill) !== price(bill)) return
    bill.status = status
    this.takeGivenUp(bill)
    const credited = periods.filter((period) => netIn(bill, period * dayMs) < 0n)
    if (status !== 'void' || credited.length === 0) return
    this.voidCredits += creditsIn(bill).amountMinor
    for (const each of this.bills) {
      if (credited.some((period) => netIn(each, period * dayMs) > 0n)) {
        const before = each.givenUp
        this.takeGivenUp(each)
        // A bill of which nothing was taken gets nothing back, so it need not be looked at.
        if (!each.isTaken) expect(each.givenUp).toBe(before)
      }
    }
  }

  takeGivenUp(bill: Bill): void {
    const wanted = decideGivenUpCredit({
      ...sumCharged(bill.lines, creditedOf(bill)),
      status: bill.status,
      lostMinor: toBillOfUsage(bill).lostMinor,
      heldMinor: creditsIn(bill).amountMinor,
      laterMinor: this.later(bill).amountMinor,
      repaidMinor: atLeastZero(this.repaid(bill) - this.toBalance(bill)),
    })
    this.balance -= wanted - bill.givenUp
    if (wanted !== bill.givenUp) bill.isTaken = true
    bill.givenUp = wanted
  }

  later(bill: Bill) {
    return decideCreditedLater(bill.reference, this.usage())
  }

  /** Taken from the balance for refunds and disputes. */
  repaid({ refunds, forDispute }: Bill): bigint {
    return sumOf(refunds.map(({ fromBalance }) => fromBalance)) + forDispute
  }

  toBalance(bill: Bill): bigint {
    const notes = bill.notes.filter(({ goesToBalance }) => goesToBalance)
    return sumOf(notes.map(({ lines }) => sumCharged(bill.lines, lines).creditedMinor))
  }

  creditable(bill: Bill): bigint {
    const { chargedMinor, creditedMinor } = sumCharged(bill.lines, creditedOf(bill))
    return chargedMinor - creditedMinor - this.later(bill).returnedMinor
  }

  fromBalance(bill: Bill, amountMinor: bigint): bigint {
    return partFromBalance(amountMinor, {
      keptMinor: paidOf(bill) - bill.refunded,
      creditableMinor: this.creditable(bill),
      toBalanceMinor: this.toBalance(bill) + this.later(bill).amountMinor,
      takenMinor: this.repaid(bill) + bill.givenUp,
    })
  }

  note(bill: Bill, amountMinor: bigint, goesToBalance: boolean): Note {
    const { creditableByPeriod } = this.later(bill)
    const invoice = { lines: bill.lines } as InvoiceWithLines
    const credited = creditedOf(bill)
    const credit = decideRefundCredit({ invoice, credited, amountMinor, creditableByPeriod })
    const lines = new Map(credit?.lines.map(({ line, amountMinor: minor }) => [line, minor]))
    const note = { lines, goesToBalance }
    bill.notes.push(note)
    return note
  }

  /** The processor refunds a payment, whatever was credited before. */
  refund(bill: Bill, share: number): void {
    const amount = draw(bill.card - backOnCard(bill), share)
    if (bill.status !== 'paid' || bill.disputed !== 'no' || amount <= 0n) return
    const fromBalance = this.fromBalance(bill, amount)
    const moved = amount - fromBalance
    bill.refunded += moved
    const note = this.note(bill, moved, false)
    bill.refunds.push({ amount, fromBalance, note })
    this.balance -= fromBalance
    if (fromBalance !== 0n) bill.isTaken = true
  }

  failRefund(bill: Bill): void {
    const refund = bill.refunds.pop()
    if (refund === undefined) return
    bill.notes = bill.notes.filter((note) => note !== refund.note)
    bill.refunded -= refund.amount - refund.fromBalance
    this.balance += refund.fromBalance
    this.takeGivenUp(bill)
  }

  /** A person credits the bill: what is due of it, or to the balance. */
  credit(bill: Bill, share: number): void {
    if (bill.disputed === 'open') return
    const isOpen = bill.status === 'open'
    if (!isOpen && bill.status !== 'paid') return
    const creditable = this.creditable(bill)
    const most = isOpen ? lesser(dueOf(bill), creditable) : creditable
    const amount = draw(most, share)
    if (amount <= 0n) return
    this.note(bill, amount, !isOpen)
    if (isOpen) bill.credited += amount
    else this.balance += amount
    if (dueOf(bill) === 0n) bill.status = 'paid'
  }

  dispute(bill: Bill): void {
    if (bill.card === 0n || bill.disputed === 'won' || bill.refunds.length > 0) return
    if (bill.disputed === 'no') {
      bill.disputed = 'open'
      bill.forDispute = this.fromBalance(bill, bill.card)
      this.balance -= bill.forDispute
      if (bill.forDispute !== 0n) bill.isTaken = true
    } else {
      bill.disputed = 'won'
      this.balance += bill.forDispute
      bill.forDispute = 0n
      this.takeGivenUp(bill)
    }
  }

  /** Returns what the provider keeps of all bills or is still owed. */
  kept(): bigint {
    const open = this.bills.filter(({ status }) => status === 'open')
    return (
      sumOf(this.bills.map((bill) => paidOf(bill) - backOnCard(bill))) +
      sumOf(open.map(dueOf)) -
      this.balance
    )
  }
}

/** Returns a line that charges the amount for usage of a period, or credits it. */
function usageLine(amount: bigint, period: number): InvoiceLine {
  const inputs = {
    kind: 'minimum',
    ...{ secondsCharged: 1, secondsInPeriod: 1, countedMinor: '0' },
    minimumMinor: `${atLeastZero(amount)}`,
    billedMinor: `${atLeastZero(-amount)}`,
  } as const
  const start = new Date(period * dayMs)
  return invoiceLine(inputs, 'usage', { start, end: new Date((period + 1) * dayMs) })
}

const kinds = [
  ...(['bill', 'bill', 'bill', 'bill', 'pay', 'pay', 'pay outside', 'refund', 'refund'] as const),
  ...(['fail refund', 'credit', 'void', 'write off', 'dispute'] as const),
]
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    of: fc.nat(7),
    share: fc.oneof(fc.constant(100), fc.integer({ min: 1, max: 100 })),
    worth: fc.tuple(fc.oneof(fc.constant(0), fc.nat(500)), fc.oneof(fc.constant(0), fc.nat(500))),
    other: fc.oneof(fc.constant(0), fc.nat(300)),
  }),
  { minLength: 4, maxLength: 14 },
)
type Step = typeof steps extends fc.Arbitrary<readonly (infer Each)[]> ? Each : never

function play(customer: Customer, { kind, of, share, worth, other }: Step): void {
  if (kind === 'bill') {
    for (const period of periods) customer.worth[period] = BigInt(worth[period])
    customer.bill(BigInt(other))
    return
  }
  const bill = customer.bills[of % Math.max(customer.bills.length, 1)]
  if (bill === undefined) return
  switch (kind) {
    case 'pay':
      return customer.pay(bill, dueOf(bill), 'card')
    case 'pay outside':
      return customer.pay(bill, draw(dueOf(bill), share), 'outside')
    case 'refund':
      return customer.refund(bill, share)
    case 'fail refund':
      return customer.failRefund(bill)
    case 'credit':
      return customer.credit(bill, share)
    case 'void':
      return customer.giveUp(bill, 'void')
    case 'write off':
      return customer.giveUp(bill, 'uncollectible')
    case 'dispute':
      return customer.dispute(bill)
  }
}

const vat: TaxTerms = {
  rule: { treatment: 'standard', country: 'DE', ratePerMille: '190' },
  isInclusive: false,
}
const { numRuns, seed } = randomRuns(1_000, process.env['TOLLGATE_TEST_RETURNED_BILLS_MODEL'])

test('no sequence of corrections, returns and losses gives a customer back more than was charged', () => {
  fc.assert(
    fc.property(
      steps,
      fc.constantFrom<TaxTerms[]>([], [vat], [{ ...vat, isInclusive: true }]),
      (sequence, tax) => {
        const customer = new Customer(tax)
        for (const step of sequence) {
          play(customer, step)
          // Each bill and note rounds its own tax.
          const notes = sumOf(customer.bills.map((bill) => BigInt(bill.notes.length + 1)))
          const centsMax = tax.length === 0 ? 0n : notes
          expect(customer.kept()).toBeGreaterThanOrEqual(-centsMax)
        }
      },
    ),
    { numRuns, seed },
  )
})

test('after a bill, the provider keeps at most what the usage is worth', () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      const customer = new Customer([])
      let others = 0n
      for (const step of sequence) {
        const before = customer.bills.length
        play(customer, step)
        if (customer.bills.length > before) others += BigInt(step.other)
      }
      customer.bill(0n)
      const worth = sumOf([...customer.worth, others, customer.voidCredits])
      expect(customer.kept()).toBeLessThanOrEqual(worth)
    }),
    { numRuns, seed },
  )
})
