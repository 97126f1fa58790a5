import { periodAt, periodOf, wholeSecond, type Cycle } from '@tollgate/domain/periods/periods'

/*
 * An independent model of what customers pay while a provider changes plans, moves the holders of plans and schedules changes. It
 * follows the documentation and has no states of purchases: a customer has a plan and a price, and may have one scheduled change.
 */

export type ChangeAhead = {
  readonly plan: number
  readonly priceMinor: number
  readonly at: Date
  /** Undefined: with the first renewal from `at` on. */
  readonly billing: 'prorate' | 'keep_period' | undefined
  /** When the terms were those of the plan. */
  readonly termsAt: Date
  /** Number of the migration; undefined if it was scheduled for this customer. */
  readonly migration: number | undefined
}

/** One charge to a customer: the price of a period (`recurring`), or the difference that a change within a period costs (`proration`). */
export type ModelCharge = {
  readonly kind: 'recurring' | 'proration'
  readonly at: string
  readonly amountMinor: number
}

export class ModelCustomer {
  plan: number
  priceMinor: number
  /** The price that the customer has paid for the running period. A prorated change within the period replaces it. */
  paidMinor: number
  ahead: ChangeAhead | undefined
  /** When the terms of the customer were those of its plan. */
  since: Date
  /** Whether the plan has begun since the model last looked, so that the customer may join a migration of it. */
  hasChanged = false
  /** Start of the next period that is charged. */
  next: Date
  isEnding = false
  hasEnded = false
  readonly charges: ModelCharge[] = []
  /** Migrations that have moved the customer. */
  readonly movedBy: number[] = []
  private readonly cycle: Cycle

  constructor(plan: number, priceMinor: number, begin: Date) {
    this.plan = plan
    this.priceMinor = priceMinor
    this.paidMinor = priceMinor
    this.cycle = { anchor: begin, billingCycle: 'monthly', mode: 'calendar', customDays: undefined }
    this.next = periodOf(this.cycle, 0).end
    this.since = begin
  }

  /** Renews for each period that has begun, by the terms that are valid at its start. */
  renewUntil(now: Date): void {
    while (!this.isEnding && !this.hasEnded && this.next <= now) {
      if (this.ahead !== undefined && this.ahead.at <= this.next) this.take(this.ahead)
      this.charge('recurring', this.next, this.priceMinor)
      this.paidMinor = this.priceMinor
      this.next = periodAt(this.cycle, this.next).end
    }
    if (this.isEnding && this.next <= now) this.hasEnded = true
  }

  /** Makes a change that is due within the running period. Returns false if none is due. */
  changeUntil(now: Date): boolean {
    const { ahead } = this
    if (this.isEnding || this.hasEnded || ahead?.billing === undefined || ahead.at > now) {
      return false
    }
    if (ahead.billing === 'prorate') this.prorate(ahead.priceMinor, now)
    this.take(ahead)
    return true
  }

  /** The customer activates a plan, and does not pay for one that has to be paid first. */
  activate(plan: number, priceMinor: number, now: Date): void {
    if (this.hasEnded) return
    // The provider scheduled the change in `ahead`, and the customer cannot withdraw it.
    if (plan === this.plan) return
    const difference = this.difference(priceMinor, now)
    // A payment that the customer does not make changes nothing.
    if (difference >= 50) return
    this.prorate(priceMinor, now)
    const billing = 'prorate'
    this.take({ plan, priceMinor, at: now, billing, termsAt: now, migration: undefined })
    this.isEnding = false
  }

  /** Returns the first renewal at that time or later. */
  renewalFrom(notBefore: Date): Date {
    let at = this.next
    while (at < notBefore) at = periodAt(this.cycle, at).end
    return at
  }

  private take({ plan, priceMinor, termsAt, migration }: ChangeAhead): void {
    this.since = termsAt
    this.hasChanged = true
    if (migration !== undefined) this.movedBy.push(migration)
    this.plan = plan
    this.priceMinor = priceMinor
    this.ahead = undefined
  }

  private prorate(priceMinor: number, now: Date): void {
    this.charge('proration', wholeSecond(now), this.difference(priceMinor, now))
    this.paidMinor = priceMinor
  }

  /** The difference for the rest of the period, rounded half away from zero. */
  private difference(priceMinor: number, now: Date): number {
    const { start, end } = periodAt(this.cycle, now)
    const left = (end.getTime() - wholeSecond(now).getTime()) / 1_000
    const whole = (end.getTime() - start.getTime()) / 1_000
    const exact = ((priceMinor - this.paidMinor) * left) / whole
    return Math.sign(exact) * Math.round(Math.abs(exact))
  }

  private charge(kind: ModelCharge['kind'], at: Date, amountMinor: number): void {
    if (amountMinor !== 0) this.charges.push({ kind, at: at.toISOString(), amountMinor })
  }
}
