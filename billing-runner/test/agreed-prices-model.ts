import { periodAt, periodIndexAt, periodOf, type Cycle } from '@tollgate/domain/periods/periods'

/*
 * An independent model of what a customer pays for plans with ramps, while the provider agrees prices with the customer. It follows the
 * documentation: a ramp is a list with the price of each period, and a period has the price that is in force when it begins.
 */

/** Prices of the first periods, one for each. */
export type ModelRamp = readonly number[]

export type ModelTerms = { readonly plan: number; readonly list: number; readonly ramp: ModelRamp }

export type ModelAgreement = {
  readonly plan: number
  readonly fromMs: number | undefined
  readonly untilMs: number | undefined
  readonly price: number | undefined
  readonly ramp: ModelRamp
}

export type ModelAhead = {
  readonly terms: ModelTerms
  readonly atMs: number
  /** Undefined: with the first renewal from then on. */
  readonly billing: 'prorate' | 'keep_period' | undefined
}

export type ModelCharge = {
  readonly kind: 'recurring' | 'proration'
  readonly at: string
  readonly amountMinor: number
}

export class PricedCustomer {
  terms: ModelTerms
  paidMinor: number
  nextMs: number
  ahead: ModelAhead | undefined
  isEnding = false
  hasEnded = false
  readonly charges: ModelCharge[] = []
  private readonly agreed: {
    readonly sinceMs: number
    readonly entries: readonly ModelAgreement[]
  }[] = []
  private readonly cycle: Cycle
  /** For each plan, the period in which the ramp of the customer began. */
  private readonly rampStarts = new Map<number, number>()
  /** For each plan that the customer left, when. */
  private readonly leftAt = new Map<number, number>()
  private startMs: number

  constructor(terms: ModelTerms, begin: Date) {
    this.terms = terms
    this.cycle = { anchor: begin, billingCycle: 'monthly', mode: 'calendar', customDays: undefined }
    this.rampStarts.set(terms.plan, 0)
    this.startMs = begin.getTime()
    this.nextMs = periodOf(this.cycle, 0).end.getTime()
    this.paidMinor = this.priceAt(terms, this.startMs)
  }

  /** A period that has begun keeps its price, even if it began in the second of the agreement. */
  agree(entries: readonly ModelAgreement[], nowMs: number): void {
    const begun = [this.startMs, periodAt(this.cycle, new Date(nowMs)).start.getTime()]
    const isBegun = !this.hasEnded && begun.includes(nowMs)
    const before = this.agreed.at(-1)
    if (JSON.stringify(before?.entries ?? []) === JSON.stringify(entries)) return
    this.agreed.push({ sinceMs: isBegun ? nowMs + 1_000 : nowMs, entries })
  }

  run(nowMs: number): void {
    while (!this.isEnding && !this.hasEnded && this.nextMs <= nowMs) {
      if (this.ahead !== undefined && this.ahead.atMs <= this.nextMs)
        this.take(this.ahead, this.nextMs)
      this.paidMinor = this.priceAt(this.terms, this.nextMs)
      this.charge('recurring', this.nextMs, this.paidMinor)
      this.nextMs = periodAt(this.cycle, new Date(this.nextMs)).end.getTime()
    }
    if (this.isEnding && this.nextMs <= nowMs) this.hasEnded = true
    const { ahead } = this
    if (this.isEnding || this.hasEnded || ahead?.billing === undefined || ahead.atMs > nowMs) return
    this.take(ahead, nowMs)
    if (ahead.billing === 'prorate') this.prorate(nowMs)
  }

  /** The customer takes a plan, and pays nothing for it now. */
  activate(terms: ModelTerms, nowMs: number): void {
    if (this.hasEnded || terms.plan === this.terms.plan) return
    const begun = this.rampStartAfterGap(terms.plan, nowMs)
    const difference = this.difference(this.priceAt(terms, nowMs, begun), nowMs)
    if (difference >= 50) return
    this.rampStarts.set(terms.plan, begun)
    this.leftAt.set(this.terms.plan, nowMs)
    this.terms = terms
    this.startMs = nowMs
    this.ahead = undefined
    this.isEnding = false
    this.prorate(nowMs)
  }

  /** Other terms of the same plan continue its ramp. Another plan that the provider chooses begins its own. */
  private take({ terms }: ModelAhead, atMs: number): void {
    if (terms.plan !== this.terms.plan) {
      this.rampStarts.set(terms.plan, periodIndexAt(this.cycle, new Date(atMs)))
      this.leftAt.set(this.terms.plan, atMs)
    }
    this.terms = terms
    this.startMs = atMs
    this.ahead = undefined
  }

  /** A customer who changes back continues the ramp, without the periods that began with another plan. */
  private rampStartAfterGap(plan: number, nowMs: number): number {
    const index = periodIndexAt(this.cycle, new Date(nowMs))
    const [start, leftAt] = [this.rampStarts.get(plan), this.leftAt.get(plan)]
    if (start === undefined || leftAt === undefined) return index
    const last = periodIndexAt(this.cycle, new Date(leftAt - 1))
    return start + Math.max(0, index - last - 1)
  }

  private prorate(atMs: number): void {
    const priceMinor = this.priceAt(this.terms, atMs)
    this.charge('proration', atMs, this.difference(priceMinor, atMs))
    this.paidMinor = priceMinor
  }

  private priceAt(
    { plan, list, ramp }: ModelTerms,
    atMs: number,
    begun = this.rampStarts.get(plan)!,
  ): number {
    const number = periodIndexAt(this.cycle, new Date(atMs)) - begun
    const inForce = this.agreed.findLast(({ sinceMs }) => sinceMs <= atMs)?.entries ?? []
    const own = inForce.find(
      ({ plan: of, fromMs = -Infinity, untilMs = Infinity }) =>
        of === plan && fromMs <= atMs && atMs < untilMs,
    )
    return own?.ramp[number] ?? own?.price ?? ramp[number] ?? list
  }

  /** The difference for the rest of the period, rounded half away from zero. */
  private difference(priceMinor: number, atMs: number): number {
    const { start, end } = periodAt(this.cycle, new Date(atMs))
    const left = (end.getTime() - atMs) / 1_000
    const whole = (end.getTime() - start.getTime()) / 1_000
    const exact = ((priceMinor - this.paidMinor) * left) / whole
    return Math.sign(exact) * Math.round(Math.abs(exact))
  }

  private charge(kind: ModelCharge['kind'], atMs: number, amountMinor: number): void {
    if (amountMinor === 0) return
    this.charges.push({ kind, at: new Date(atMs).toISOString(), amountMinor })
  }
}
