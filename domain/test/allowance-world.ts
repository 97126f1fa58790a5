import { windowBefore, billedWindowOf } from '../src/purchases/usage-windows.ts'
import { compileEntitlement } from '../src/entitlements/compile-entitlement.ts'
import { currentPeriod, windowOfPeriod } from '../src/entitlements/counting-windows.ts'
import { allowedMicros } from '../src/entitlements/allowed-units.ts'
import { periodAt, usagePeriodAt } from '../src/periods/periods.ts'
import { planOfPeriod } from '../src/plans/included-units.ts'
import type { PlanTerms } from '../src/plans/plan.ts'
import { totalOf } from '../src/pricing/invoice-line.ts'
import { billableMicros } from '../src/pricing/price-usage.ts'
import { usageTermsOf } from '../src/pricing/usage-terms.ts'
import { cycleOf } from '../src/purchases/access.ts'
import { decideChange } from '../src/purchases/decide-switch.ts'
import {
  newPaidPurchase,
  newScheduledPurchase,
  newSwitchedPurchase,
  switchPrice,
  newUnpaidPurchase,
} from '../src/purchases/new-purchase.ts'
import type { PlanSnapshot } from '../src/plans/plan-snapshot.ts'
import type { Purchase } from '../src/purchases/repository.ts'
import { shareAllowance } from '../src/purchases/share-allowance.ts'

const customer = {
  reference: 'cus_1',
  email: 'ada@example.com',
} as Parameters<typeof newUnpaidPurchase>[0]['customer']
const product = { reference: 'prd_1', name: 'API' }
const dayMs = 86_400_000
export const begin = Date.parse('2026-03-05T10:00:00Z')

/** Plan without periods, which is charged once. */
const yearly = { anchor: new Date(begin), billingCycle: 'yearly', mode: 'calendar' } as const

let plans = 0

export function planOf(
  type: PlanSnapshot['type'],
  priceMinor: number,
  terms: PlanTerms,
): PlanSnapshot {
  return {
    reference: `pln_${(plans += 1)}`,
    name: 'Plan',
    type,
    priceMinor,
    basePriceMinor: type === 'hybrid' ? priceMinor : null,
    setupFeeMinor: null,
    currency: 'USD',
    meterRef: null,
    terms: { billingCycle: 'monthly', ...terms },
  }
}

/** Purchases of one customer, and the customer's counters by window id. */
export class AllowanceWorld {
  nowMs = begin
  readonly purchases: Purchase[] = []
  readonly counters = new Map<string, number>()
  readonly usages: { second: number; units: number }[] = []
  fullCharges = 0
  /** Charged amount minus credits. */
  paidMinor = 0
  #paidUntilMs: number | undefined

  get last(): Purchase {
    return this.purchases.at(-1)!
  }

  get now(): Date {
    return new Date(this.nowMs)
  }

  /** Advances the time and renews paid plans. */
  wait(days: number): this {
    const until = this.nowMs + Math.round(days * dayMs)
    while (this.#paidUntilMs !== undefined && this.#paidUntilMs <= until) {
      this.nowMs = this.#paidUntilMs
      this.#renew()
    }
    this.nowMs = until
    return this
  }

  #renew(): void {
    const { last } = this
    const period = periodAt(cycleOf(last)!, this.now)
    const { scheduledPlan: plan } = last
    if (plan !== null) {
      this.end()
      const given = { customer, product, plan, now: this.now }
      const price = switchPrice(plan, 'USD', '1')
      this.purchases.push(newScheduledPurchase(given, last, period, price))
    }
    this.#charge(this.last.planSnapshot!.priceMinor, period.end)
  }

  #charge(minor: number, until: Date): void {
    this.paidMinor += minor
    this.#paidUntilMs = until.getTime()
  }

  /** Starts a plan like `activate` and the checkout do. */
  take(plan: PlanSnapshot): this {
    const given = { customer, product, plan, now: this.now }
    const previous = this.purchases.at(-1)
    const held = previous?.endedAt === null ? previous : undefined
    const input = { held, plan, isFirstCharge: false, currency: undefined, at: this.now }
    const decision = decideChange(input)
    if (decision.kind === 'at-renewal') {
      this.purchases[this.purchases.length - 1] = { ...held!, scheduledPlan: plan }
      return this
    }
    if (decision.kind === 'too-early') return this
    const change = decision.kind === 'now' ? decision.change : undefined
    const isPaidInFull = change === undefined && plan.priceMinor > 0
    const price = switchPrice(plan, 'USD', '1')
    const started =
      change !== undefined
        ? newSwitchedPurchase(given, change, price)
        : isPaidInFull
          ? newPaidPurchase({ ...given, cycleMode: 'calendar' }, price)
          : newUnpaidPurchase({ ...given, cycleMode: 'calendar', origin: 'manual' })
    const endBeforePrevious = this.purchases.at(-2)?.endedAt ?? undefined
    const purchase = { ...started, status: 'active' } as const
    const allowance = shareAllowance({
      ...{ previous, endBeforePrevious, purchase, isPaidInFull },
      isUnpaid: false,
    })
    this.end()
    this.purchases.push({ ...purchase, allowance })
    if (isPaidInFull) this.fullCharges += 1
    const { end } = periodAt(cycleOf(purchase) ?? yearly, this.now)
    if (change !== undefined) this.#charge(Number(totalOf(change.lines)), end)
    else if (isPaidInFull) this.#charge(plan.priceMinor, end)
    return this
  }

  end(): this {
    const last = this.purchases.at(-1)
    if (last?.endedAt === null) {
      this.purchases[this.purchases.length - 1] = {
        ...last,
        status: 'cancelled',
        endedAt: this.now,
      }
    }
    this.#paidUntilMs = undefined
    return this
  }

  #window(): { id: string; cap: number } | undefined {
    if (this.purchases.length === 0 || this.last.endedAt !== null) return undefined
    const context = { now: this.now, customerRefs: [] }
    const entitlement = compileEntitlement(this.last, this.last.planSnapshot!, context)
    const period = currentPeriod(entitlement, this.nowMs)!
    const micros = allowedMicros(entitlement, period, 0n)
    const cap = micros === null ? Infinity : Number(micros) / 1_000_000
    return { id: windowOfPeriod(entitlement, period.startSecond), cap }
  }

  remaining(): number {
    const window = this.#window()
    if (window === undefined) return 0
    return Math.max(0, window.cap - (this.counters.get(window.id) ?? 0))
  }

  /** Uses at most this many units, as far as limit checks allow. Returns the number of used units. */
  use(wanted: number): number {
    const units = Math.min(wanted, this.remaining())
    const window = this.#window()
    if (window === undefined || units === 0) return 0
    this.counters.set(window.id, (this.counters.get(window.id) ?? 0) + units)
    this.usages.push({ second: Math.floor(this.nowMs / 1000), units })
    return units
  }

  /** Returns the bill of each purchase's first period: its own units, and how many of them are free. */
  bills(): { own: number; free: number }[] {
    return this.purchases.map((purchase, at) => {
      const natural = usagePeriodAt(cycleOf(purchase)!, purchase.startDate, purchase.startDate)
      const period = { start: natural.start, end: purchase.endedAt ?? natural.end }
      const endOfPrevious = this.purchases[at - 1]?.endedAt ?? undefined
      const own = this.#sum(billedWindowOf(purchase, period, endOfPrevious))
      const shared = windowBefore(purchase, period, endOfPrevious)
      const before = shared === undefined ? 0 : this.#sum(shared)
      const terms = usageTermsOf(planOfPeriod(purchase.planSnapshot!, purchase, period))
      if (terms === undefined) return { own, free: 0 }
      const micros = (units: number) => BigInt(units) * 1_000_000n
      const units = { usedMicros: micros(own), usedBeforeMicros: micros(before) }
      return { own, free: own - Number(billableMicros(terms, units) / 1_000_000n) }
    })
  }

  #sum({ fromSecond, toSecond }: { fromSecond: number; toSecond: number }): number {
    return this.usages
      .filter(({ second }) => fromSecond <= second && second < toSecond)
      .reduce((sum, { units }) => sum + units, 0)
  }
}
