import { boundary, indexAt, type Mode } from './calendar.ts'
import type { ModelPlan } from './plans.ts'
import { begin, endAt, givesAccess, isOpen, settleEnd, type Begin } from './purchase.ts'
import type { ModelCharge, ModelPurchase, UsageRecord } from './records.ts'

export type ModelGrant = {
  readonly priority: number
  readonly expiresAt: number
  readonly order: number
  /** Whole credits. */
  left: number
}

/** A card's habit at every charge to come; undefined where no card was kept. */
export type CardHabit = 'pays' | 'declines'

/** A customer as it must be. */
export class ModelCustomer {
  readonly mode: Mode
  readonly purchases: ModelPurchase[] = []
  readonly usage: UsageRecord[] = []
  #card: CardHabit | undefined
  #grants: ModelGrant[] = []
  #grantsTotal = 0

  constructor(mode: Mode) {
    this.mode = mode
  }

  /** There is another card, and all that could not be charged is charged to it soon. */
  keepCard(habit: CardHabit, at: number): void {
    this.#card = habit
    for (const { billed } of this.purchases) {
      for (const period of billed.values()) {
        if (!period.isPaid && period.failures > 0) period.nextCharge = at
      }
    }
  }

  charge(): ModelCharge {
    if (this.#card === undefined) return 'no card'
    return this.#card === 'pays' ? 'paid' : 'declined'
  }

  /** The one that decides about the product: the newest. */
  latest(productRef: string): ModelPurchase | undefined {
    return this.purchases.findLast((purchase) => purchase.productRef === productRef)
  }

  held(productRef: string, at: number): ModelPurchase | undefined {
    const last = this.latest(productRef)
    return last !== undefined && givesAccess(last, at) ? last : undefined
  }

  hasHad(plan: ModelPlan): boolean {
    return this.purchases.some((purchase) => purchase.plan === plan)
  }

  /** What the operation of the same name answers (3.9). */
  activate(productRef: string, plan: ModelPlan, at: number) {
    if (this.held(productRef, at)?.plan === plan) return 'already_active'
    const isFree = plan.price === 0 && plan.type === 'recurring'
    if (!isFree && plan.type !== 'usage-based') return 'payment_required'
    if (isFree && plan.cap !== undefined && this.#hadThisPeriod(plan, at)) return 'invalid'
    this.#replace({ productRef, plan, at, how: 'activated', amount: 0 })
    return 'activated'
  }

  buy(productRef: string, plan: ModelPlan, at: number): void {
    this.#replace({ productRef, plan, at, how: 'paid', amount: this.priceOf(plan) })
  }

  /** Of the first charge: the set-up fee is due once. */
  priceOf(plan: ModelPlan): number {
    return plan.price + (this.hasHad(plan) ? 0 : (plan.setupFee ?? 0))
  }

  try(productRef: string, plan: ModelPlan, at: number): void {
    this.#replace({ productRef, plan, at, how: 'tried', amount: 0 })
  }

  /** Units that a period has used up by the times of its records. */
  used(productRef: string, from: number, until: number): number {
    return this.usage
      .filter((record) => record.productRef === productRef)
      .filter(({ at }) => at >= from && at < until)
      .reduce((sum, { units }) => sum + units, 0)
  }

  /** What the limit check tells of a free plan with a cap, or of one that the wallet pays; undefined of others. */
  remaining({ plan, productRef, anchor, mode }: ModelPurchase, at: number): number | undefined {
    if (plan.creditsPerUnit !== undefined) return Math.floor(this.credits / plan.creditsPerUnit)
    if (plan.cap === undefined || plan.cycle === undefined) return undefined
    const index = indexAt(plan.cycle, mode, anchor, at)
    const from = boundary(plan.cycle, mode, anchor, index)
    const until = boundary(plan.cycle, mode, anchor, index + 1)
    return Math.max(0, plan.cap - this.used(productRef, from, until))
  }

  grant(credits: number, { priority = 0, expiresAt = Infinity } = {}): void {
    this.#grantsTotal += 1
    this.#grants.push({ priority, expiresAt, order: this.#grantsTotal, left: credits })
    this.#grants.sort(
      (one, other) =>
        one.priority - other.priority ||
        Math.sign(one.expiresAt - other.expiresAt) ||
        one.order - other.order,
    )
  }

  get credits(): number {
    return this.#grants.reduce((sum, { left }) => sum + left, 0)
  }

  /** Takes what there is of them. How many were taken. */
  spend(credits: number): number {
    let rest = credits
    for (const grant of this.#grants) {
      const taken = Math.min(grant.left, rest)
      grant.left -= taken
      rest -= taken
    }
    return credits - rest
  }

  expireCredits(at: number): void {
    this.#grants = this.#grants.filter(({ expiresAt }) => expiresAt > at)
  }

  #hadThisPeriod(plan: ModelPlan, at: number): boolean {
    const last = this.purchases.findLast((purchase) => purchase.plan === plan)
    if (last === undefined) return false
    const { anchor, mode, endedAt, end } = last
    const lastMoment = Math.max(anchor, (endedAt ?? end ?? at) - 1)
    return indexAt(plan.cycle!, mode, anchor, lastMoment) === indexAt(plan.cycle!, mode, anchor, at)
  }

  #replace(next: Omit<Begin, 'mode'>): void {
    const last = this.latest(next.productRef)
    const hasLapsed = last !== undefined && settleEnd(last, next.at)
    const replaces = last !== undefined && !hasLapsed && isOpen(last)
    // One that stands still does not come back beside another.
    const isOver = replaces || (last !== undefined && last.status === 'suspended')
    if (isOver) endAt(last, 'expired', next.at)
    const purchase = begin({ ...next, mode: this.mode })
    if (replaces) purchase.events.push('purchase.plan_changed')
    this.purchases.push(purchase)
  }
}
