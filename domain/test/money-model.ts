/*
 * An independent model of the ledger: money by account and currency, and a wallet as a list of grants. Signs are those of
 * the ledger: what we have or are owed is positive.
 */

export type PaymentTerms = {
  readonly reference: string
  readonly currency: string
  readonly total: bigint
  readonly tax: bigint
  /** Purchased credits; 0 if the payment pays an invoice. */
  readonly credits: bigint
  /** Currency and amount in the processor's balance, before the fee. */
  readonly settled: readonly [currency: string, amount: bigint]
  readonly fee: bigint
}

type Grant = {
  readonly payment: string
  readonly credits: bigint
  left: bigint
  readonly paid: bigint
  readonly currency: string
}

type Back = {
  readonly payment: string
  readonly amount: bigint
  readonly wanted: bigint
  readonly account: 'refunds' | 'disputes'
  isUndone: boolean
  /** Credits removed by grant; undefined if no removal was tried. */
  taken?: [Grant, bigint][]
  /** The grants at the first try. Only their credits are removed later, and those of the own grant. */
  older?: readonly Grant[]
  isGivenBack: boolean
}

type Refund = {
  readonly payment: PaymentTerms
  readonly amount: bigint
  /** Tax of the amount, by its credit note, which exists while the refund is successful. */
  noted: bigint
  status: 'pending' | 'succeeded' | 'failed'
}

export class MoneyModel {
  readonly #money = new Map<string, bigint>()
  readonly #grants: Grant[] = []
  readonly #refunds = new Map<string, Refund>()
  readonly #backs = new Map<string, Back>()
  readonly #payments = new Map<string, PaymentTerms>()
  readonly #settled = new Set<string>()
  /** Credits that usage took and that were not returned, and when it took some last. */
  readonly #uses = new Map<Grant, { credits: bigint; last: number }>()
  #time = 0

  /** Sums by account and currency, without sums of 0. */
  accounts(): Record<string, string> {
    const held = [...this.#money].filter(([, amount]) => amount !== 0n)
    return Object.fromEntries(
      held.map(([name, amount]): [string, string] => [name, amount.toString()]),
    )
  }

  of(account: string, currency: string): bigint {
    return this.#money.get(`${account} ${currency}`) ?? 0n
  }

  get credits(): bigint {
    return this.#grants.reduce((sum, { left }) => sum + left, 0n)
  }

  get payments(): readonly PaymentTerms[] {
    return [...this.#payments.values()]
  }

  /** Returns the amount of the payment that can still be refunded. */
  refundable(reference: string): bigint {
    const live = [...this.#refunds.values()].filter(
      ({ payment, status }) => payment.reference === reference && status !== 'failed',
    )
    return this.#payments.get(reference)!.total - sum(live.map(({ amount }) => amount))
  }

  /** Refunds and disputes whose credits are not removed yet, in the order in which the money left. */
  get waiting(): string[] {
    return [...this.#backs]
      .filter(([, { taken, isUndone, isGivenBack }]) =>
        taken === undefined ? true : isUndone && !isGivenBack,
      )
      .map(([reference]) => reference)
  }

  /** Grants free credits. */
  granted(credits: bigint): void {
    this.#grants.push({ payment: '', credits, left: credits, paid: 0n, currency: 'USD' })
  }

  paid(payment: PaymentTerms, isSettled: boolean): void {
    const { reference, currency, total, tax, credits } = payment
    this.#payments.set(reference, payment)
    this.#move('clearing', currency, total)
    if (credits > 0n) {
      this.#move('tax', currency, -tax)
      this.#move('prepaid', currency, tax - total)
      this.#grants.push({ payment: reference, credits, left: credits, paid: total - tax, currency })
    } else {
      // The invoice is issued as revenue and paid.
      this.#move('revenue', currency, -total)
    }
    if (isSettled) this.settled(reference)
  }

  settled(reference: string): void {
    if (this.#settled.has(reference)) return
    this.#settled.add(reference)
    const { currency, total, settled, fee } = this.#payments.get(reference)!
    this.#exchange([currency, total], settled)
    this.#move('fees', settled[0], fee)
    this.#move('clearing', settled[0], -fee)
  }

  /** Returns the credits that could be removed. */
  used(credits: bigint): bigint {
    const taken = this.#take(this.#grants, credits, 'revenue')
    this.#time += 1
    for (const [grant, part] of taken) {
      const before = this.#uses.get(grant)?.credits ?? 0n
      this.#uses.set(grant, { credits: before + part, last: this.#time })
    }
    return sum(taken.map(([, amount]) => amount))
  }

  /** Credits that usage took and that were not returned. */
  get usedCredits(): bigint {
    return sum([...this.#uses.values()].map(({ credits }) => credits))
  }

  /** Returns credits of corrected usage to the grants that were used last. */
  corrected(credits: bigint): void {
    let left = credits
    const age = ({ payment }: Grant, all = this.#grants): number =>
      all.findIndex((grant) => grant.payment === payment)
    const lastFirst = [...this.#uses].toSorted(
      ([one, used], [other, usedOther]) => usedOther.last - used.last || age(other) - age(one),
    )
    for (const [grant, use] of lastFirst) {
      const part = use.credits < left ? use.credits : left
      if (part === 0n) continue
      use.credits -= part
      this.#burn(grant, -part, 'revenue')
      left -= part
    }
  }

  /** Takes credits that came back since the first try. */
  retaken(reference: string): void {
    const back = this.#backs.get(reference)!
    const { taken, older } = back
    if (taken === undefined || older === undefined || back.isUndone) return
    const missing = back.wanted - sum(taken.map(([, credits]) => credits))
    const own = this.#grants.filter(({ payment }) => payment === back.payment)
    const others = older.filter(({ payment }) => payment !== back.payment)
    taken.push(...this.#take([...own, ...others], missing, back.account))
  }

  refund(reference: string, of: string, amount: bigint): void {
    const payment = this.#payments.get(of)!
    this.#refunds.set(reference, { payment, amount, noted: 0n, status: 'pending' })
    this.#move('refunds', payment.currency, amount)
    this.#move('refunds_due', payment.currency, -amount)
  }

  /** Posts the credit note of a successful refund, or its reversal. */
  #note({ payment, amount, noted }: Refund, sign: bigint): void {
    const { currency, credits } = payment
    // The value of removed credits is posted with them.
    const earned = credits === 0n ? amount - noted : 0n
    this.#move('revenue', currency, sign * earned)
    this.#move('tax', currency, sign * noted)
    this.#move('refunds', currency, -sign * (earned + noted))
  }

  #taxOf({ payment, amount }: Refund): bigint {
    const { tax, total, credits } = payment
    // The tax of a payment for an invoice is posted with the invoice.
    if (credits === 0n) return 0n
    const others = [...this.#refunds.values()].filter(
      (refund) => refund.payment === payment && refund.status === 'succeeded',
    )
    const upTo = rounded(tax * (sum(others.map((other) => other.amount)) + amount), total)
    const part = upTo - sum(others.map((other) => other.noted))
    return part < 0n ? 0n : part > amount ? amount : part
  }

  refundMoved(reference: string, status: 'succeeded' | 'failed'): void {
    const refund = this.#refunds.get(reference)!
    const { payment, amount } = refund
    if (refund.status === status || refund.status === 'failed') return
    const { currency } = payment
    const wasPending = refund.status === 'pending'
    if (status === 'succeeded') refund.noted = this.#taxOf(refund)
    refund.status = status
    if (status === 'succeeded') {
      this.#move('refunds_due', currency, amount)
      this.#move('clearing', currency, -amount)
      this.#note(refund, 1n)
      this.#exchange([currency, -amount], this.#abroad(payment, -amount))
      this.#claim(reference, payment, amount, 'refunds')
      return
    }
    this.#move(wasPending ? 'refunds_due' : 'clearing', currency, amount)
    this.#move('refunds', currency, -amount)
    if (!wasPending) this.#note(refund, -1n)
    if (wasPending) this.#exchange([currency, -amount], this.#abroad(payment, -amount))
    // The exchange rate has moved.
    const [settledIn, back] = this.#abroad(payment, amount)
    this.#exchange([currency, amount], [settledIn, back + 1n])
    this.#undo(reference)
  }

  disputed(reference: string, of: string, fee: bigint): void {
    const payment = this.#payments.get(of)!
    const [currency, amount] = payment.settled
    this.#move('disputes', currency, amount)
    this.#move('fees', currency, fee)
    this.#move('clearing', currency, -amount - fee)
    this.#claim(reference, payment, payment.total, 'disputes')
  }

  won(reference: string, of: string): void {
    const [currency, amount] = this.#payments.get(of)!.settled
    this.#move('disputes', currency, -amount)
    this.#move('clearing', currency, amount)
    this.#undo(reference)
  }

  paidOut(currency: string, amount: bigint): void {
    this.#move('bank', currency, amount)
    this.#move('clearing', currency, -amount)
  }

  creditsFollowed(reference: string): void {
    const back = this.#backs.get(reference)!
    if (back.taken === undefined) {
      const own = this.#grants.filter(({ payment }) => payment === back.payment)
      const others = this.#grants.filter(({ payment }) => payment !== back.payment)
      const wanted = back.isUndone ? 0n : back.wanted
      back.older = [...this.#grants]
      back.taken = this.#take([...own, ...others], wanted, back.account)
    } else if (back.isUndone && !back.isGivenBack) {
      for (const [grant, credits] of back.taken) this.#burn(grant, -credits, back.account)
      back.isGivenBack = true
    }
  }

  /** Returns the amount in the currency of the processor's balance. */
  #abroad({ currency, settled }: PaymentTerms, amount: bigint): readonly [string, bigint] {
    return settled[0] === currency ? [currency, amount] : [settled[0], amount * 2n]
  }

  #exchange([from, amount]: readonly [string, bigint], [into, settled]: readonly [string, bigint]) {
    if (from === into) return
    this.#move('fx', from, amount)
    this.#move('clearing', from, -amount)
    this.#move('fx', into, -settled)
    this.#move('clearing', into, settled)
  }

  #claim(reference: string, payment: PaymentTerms, amount: bigint, account: Back['account']): void {
    if (payment.credits === 0n || this.#backs.has(reference)) return
    const more = this.#bought(payment, amount) - sum(this.#live(payment).map((back) => back.wanted))
    this.#backs.set(reference, backOf(payment, amount, more < 0n ? 0n : more, account))
  }

  #live({ reference }: PaymentTerms): Back[] {
    return [...this.#backs.values()].filter(
      ({ payment, isUndone }) => payment === reference && !isUndone,
    )
  }

  /** Credits bought with the money that is gone from the payment, plus `more`. */
  #bought(payment: PaymentTerms, more = 0n): bigint {
    const away = sum(this.#live(payment).map(({ amount }) => amount)) + more
    return (payment.credits * (away > payment.total ? payment.total : away)) / payment.total
  }

  /** Restored credits are removed again for other refunds and disputes that still need them. */
  #undo(reference: string): void {
    const back = this.#backs.get(reference)
    if (back === undefined || back.isUndone) return
    back.isUndone = true
    const payment = this.#payments.get(back.payment)!
    const wanted = (): bigint => sum(this.#live(payment).map((each) => each.wanted))
    if (wanted() > this.#bought(payment)) {
      for (const each of this.#live(payment)) if (each.amount === 0n) each.isUndone = true
    }
    const missing = this.#bought(payment) - wanted()
    if (missing <= 0n) return
    const isDisputed = this.#live(payment).some(({ account }) => account === 'disputes')
    const account = isDisputed ? 'disputes' : 'refunds'
    this.#backs.set(`${reference}:others`, backOf(payment, 0n, missing, account))
  }

  #take(grants: readonly Grant[], credits: bigint, account: string): [Grant, bigint][] {
    const taken: [Grant, bigint][] = []
    let wanted = credits
    for (const grant of grants) {
      const part = grant.left < wanted ? grant.left : wanted
      if (part === 0n) continue
      this.#burn(grant, part, account)
      taken.push([grant, part])
      wanted -= part
    }
    return taken
  }

  /** Returns the value of a grant that is gone, in proportion to its credits. */
  #burn(grant: Grant, credits: bigint, account: string): void {
    const { credits: all, paid, currency } = grant
    const gone = all - grant.left
    grant.left -= credits
    const value = rounded(paid * (gone + credits), all) - rounded(paid * gone, all)
    this.#move('prepaid', currency, value)
    this.#move(account, currency, -value)
  }

  #move(account: string, currency: string, amount: bigint): void {
    const name = `${account} ${currency}`
    this.#money.set(name, (this.#money.get(name) ?? 0n) + amount)
  }
}

function backOf(
  { reference: payment }: PaymentTerms,
  amount: bigint,
  wanted: bigint,
  account: Back['account'],
): Back {
  return { payment, amount, wanted, account, isUndone: false, isGivenBack: false }
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n)
}

/** Rounds to the nearest integer, half up, for values of at least 0. */
function rounded(dividend: bigint, divisor: bigint): bigint {
  const rest = dividend % divisor
  return dividend / divisor + (2n * rest >= divisor ? 1n : 0n)
}
