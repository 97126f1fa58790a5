import { usageBillLines, type UsageToPrice } from '../src/billing/usage-lines.ts'
import { allowedMicros } from '../src/entitlements/allowed-units.ts'
import { compileEntitlement } from '../src/entitlements/compile-entitlement.ts'
import {
  countingWindows,
  currentPeriod,
  windowOfPeriod,
} from '../src/entitlements/counting-windows.ts'
import { packUnits } from '../src/entitlements/pack-units.ts'
import type { BilledUsage } from '../src/invoices/sum-billed-usage.ts'
import type { PackClaim } from '../src/packs/claims-repository.ts'
import {
  decideSettlement,
  settledToOfReturn,
  type UsedSpan,
} from '../src/billing/decide-pack-settlement.ts'
import { drawUsage } from '../src/packs/draw-usage.ts'
import { openPacks } from '../src/packs/pack-balance.ts'
import { payByPacks } from '../src/billing/pay-by-packs.ts'
import type { Pack, PackAccount } from '../src/packs/repository.ts'
import { periodOf } from '../src/periods/periods.ts'
import { planOfPeriod } from '../src/plans/included-units.ts'
import type { PlanSnapshot } from '../src/plans/plan-snapshot.ts'
import type { ChargedPeriod } from '../src/pricing/invoice-line.ts'
import { cycleOf } from '../src/purchases/access.ts'
import type { Purchase } from '../src/purchases/purchase.ts'
import { billedWindowOf, windowBefore } from '../src/purchases/usage-windows.ts'
import { AllowanceWorld, begin } from './allowance-world.ts'

const unit = 1_000_000n
const dayMs = 86_400_000
const dollars = { currency: 'USD', unitsPerDollar: '1' }

/** One customer's plans, packs and usage, without stores: the rules that limit checks, settlements and bills follow. */
export class PackWorld {
  readonly plans = new AllowanceWorld()
  account: PackAccount = {
    customerRef: 'cus_1',
    productRef: 'prd_1',
    settledTo: new Date(begin),
    packs: [],
    uses: [],
  }
  readonly usages: { second: number; units: number }[] = []
  admitted = 0
  /** The units of each window that the plan provides. */
  readonly own = new Map<string, number>()
  invoicedMinor = 0n
  readonly billed = new Map<number, BilledUsage>()
  #claims: PackClaim[] = []
  /** Settled claims with the units that they took. */
  #settled: { claim: PackClaim; takenMicros: bigint }[] = []
  /** The entitlement was published then, and not since. */
  #publishedAt = new Date(begin)

  get now(): Date {
    return this.plans.now
  }

  get isRunning(): boolean {
    return this.plans.purchases.length > 0 && this.plans.last.endedAt === null
  }

  take(plan: PlanSnapshot): this {
    this.plans.take(plan)
    this.#publishedAt = this.now
    return this
  }

  wait(days: number): this {
    this.plans.wait(days)
    return this
  }

  buyPack(units: number, days?: number): this {
    const isFresh = openPacks(this.account).length === 0
    const settledTo =
      isFresh && this.account.settledTo < this.now ? this.now : this.account.settledTo
    const pack: Pack = {
      purchaseRef: `pack_${this.account.packs.length}`,
      meterName: 'requests',
      unitsMicros: BigInt(units) * unit,
      ...{ usedMicros: 0n, takenMicros: 0n, claimedMicros: 0n },
      startsAt: this.now,
      endsAt: days === undefined ? null : new Date(this.plans.nowMs + days * dayMs),
    }
    return this.#publish({ ...this.account, settledTo, packs: [...this.account.packs, pack] })
  }

  /** Claims a share of the units of a pack, at most what earlier refunds left. */
  refund(index: number, percent: number): this {
    const pack = this.account.packs[index % Math.max(1, this.account.packs.length)]
    if (pack === undefined) return this
    const rest = pack.unitsMicros - pack.takenMicros - pack.claimedMicros
    // Whole units, so that every invoice is a whole number of cents.
    const wanted = ((pack.unitsMicros * BigInt(percent)) / 100n / unit) * unit
    const unitsMicros = wanted < rest ? wanted : rest
    const reference = `refund_${this.#claims.length}_${this.plans.nowMs}`
    this.#claims.push({ reference, packRef: pack.purchaseRef, claimedAt: this.now, unitsMicros })
    return this.#change(pack.purchaseRef, (each) => ({
      claimedMicros: each.claimedMicros + unitsMicros,
    }))
  }

  /** Gives back what one of the claims took or would take, as after a won dispute. */
  giveBack(index: number): this {
    const all = [...this.#settled, ...this.#claims.map((claim) => ({ claim, takenMicros: null }))]
    const undone = all[index % Math.max(1, all.length)]
    if (undone === undefined) return this
    const { claim, takenMicros } = undone
    const { account } = this
    const settledTo = settledToOfReturn(account, this.plans.purchases, this.now)
    this.account = { ...account, settledTo: settledTo ?? account.settledTo }
    this.#settled = this.#settled.filter((each) => each.claim !== claim)
    this.#claims = this.#claims.filter((each) => each !== claim)
    return this.#change(claim.packRef, (pack) =>
      takenMicros === null
        ? { claimedMicros: pack.claimedMicros - claim.unitsMicros }
        : { takenMicros: pack.takenMicros - takenMicros },
    )
  }

  remaining(): number {
    const counted = this.#counted()
    return counted === undefined ? 0 : Math.max(0, counted.allowed - counted.used)
  }

  /** Uses at most this many units, as far as limit checks allow. Returns the number of used units. */
  use(wanted: number): number {
    const units = Math.min(wanted, this.remaining())
    if (units > 0) this.record(units, 0)
    this.admitted += units
    return units
  }

  /** Records usage whatever the limit, with a timestamp of some days ago. */
  record(units: number, daysAgo: number): this {
    this.usages.push({ second: Math.floor((this.plans.nowMs - daysAgo * dayMs) / 1000), units })
    return this
  }

  settle(): this {
    for (;;) {
      const decision = decideSettlement(this.account, this.#claims, this.plans.purchases, this.now)
      if (decision.kind === 'wait') return this
      const { at, used } = decision.settlement
      if (used !== undefined) this.#draw(used)
      for (const claim of this.#claims.filter(({ claimedAt }) => claimedAt <= at)) {
        this.#settleClaim(claim)
      }
      this.#claims = this.#claims.filter(({ claimedAt }) => claimedAt > at)
      this.#publish({
        ...this.account,
        settledTo: at > this.account.settledTo ? at : this.account.settledTo,
      })
    }
  }

  /** Bills all periods of the only purchase that have ended, each with the late usage of earlier ones. */
  bill(): this {
    const { last: purchase } = this.plans
    for (let index = this.billed.size; ; index += 1) {
      const { start, end } = periodOf(cycleOf(purchase)!, index)
      if (end > this.now) return this
      const earlier = [...this.billed].map(([startMs, billed], at) => {
        const period = periodOf(cycleOf(purchase)!, at)
        const span = { start: new Date(startMs), end: period.end }
        return {
          period: span,
          usedMicros: this.#sumOf(purchase, span),
          usedBeforeMicros: 0n,
          billed,
        }
      })
      const reading = { meterName: 'requests', watermark: '', nextOffsets: {} }
      const current = {
        period: { start, end },
        usedMicros: this.#sumOf(purchase, { start, end }),
        usedBeforeMicros: 0n,
      }
      const measured = [{ key: null, current, earlier: earlier.toReversed(), reading }]
      this.#invoice(purchase, measured)
    }
  }

  /** Returns the units of the period that neither the plan includes nor packs paid for. */
  unpaidUnits(includedUnits: number): bigint {
    const { last: purchase } = this.plans
    let sum = 0n
    for (const index of Array.from(this.billed.keys()).keys()) {
      const period = periodOf(cycleOf(purchase)!, index)
      const above = this.#sumOf(purchase, period) / unit - BigInt(includedUnits)
      sum += above > 0n ? above : 0n
    }
    return sum - this.account.uses.reduce((total, { micros }) => total + micros / unit, 0n)
  }

  #invoice(purchase: Purchase, measured: UsageToPrice): void {
    const plan = purchase.planSnapshot!
    const paid = payByPacks(this.account, purchase, plan, measured)
    this.#publish(paid.account)
    for (const { amountMinor } of usageBillLines(purchase, plan, dollars, paid.usage)) {
      this.invoicedMinor += amountMinor
    }
    const [{ current, earlier } = { current: undefined, earlier: [] }] = paid.usage
    for (const { period, usedMicros, packMicros } of [...earlier.toReversed(), current!]) {
      const units = { usedMicros, carriedOverMicros: 0n, usedBeforeMicros: 0n }
      this.billed.set(period.start.getTime(), { ...units, packMicros: packMicros ?? 0n })
    }
  }

  #counted(): { used: number; allowed: number } | undefined {
    if (!this.isRunning) return undefined
    const { last } = this.plans
    const context = { now: this.#publishedAt, customerRefs: [], packs: this.account }
    const entitlement = compileEntitlement(last, last.planSnapshot!, context)
    const period = currentPeriod(entitlement, this.plans.nowMs)!
    const amounts = new Map(
      countingWindows(entitlement).map((window) => [window.id, this.#sum(window)]),
    )
    const id = windowOfPeriod(entitlement, period.startSecond)
    const packs = packUnits(entitlement, 'requests', period, amounts, this.plans.nowMs)
    const own = allowedMicros(entitlement, period, 0n)
    this.own.set(id, Math.max(this.own.get(id) ?? 0, Number((own ?? 0n) / unit)))
    const allowed = allowedMicros(entitlement, period, 0n, packs)
    return {
      used: Number((amounts.get(id) ?? 0n) / unit),
      allowed: allowed === null ? Infinity : Number(allowed / unit),
    }
  }

  #draw({ purchase, period }: UsedSpan): void {
    const endOfPrevious = this.#endBefore(purchase)
    const before = windowBefore(purchase, period, endOfPrevious)
    const usage = {
      usedMicros: this.#sumOf(purchase, period),
      usedBeforeMicros: before === undefined ? 0n : this.#sum(before),
      carriedOverMicros: 0n,
    }
    const plan = planOfPeriod(purchase.planSnapshot!, purchase, period)
    const given = { purchase, period, plan, meterName: 'requests', usage }
    this.#publish(drawUsage(this.account, given).account)
  }

  #settleClaim(claim: PackClaim): void {
    const { packRef, unitsMicros } = claim
    this.#change(packRef, ({ unitsMicros: bought, usedMicros, takenMicros, claimedMicros }) => {
      const left = bought - usedMicros - takenMicros
      const taken = unitsMicros < left ? unitsMicros : left
      this.#settled.push({ claim, takenMicros: taken })
      return { takenMicros: takenMicros + taken, claimedMicros: claimedMicros - unitsMicros }
    })
  }

  #change(packRef: string, change: (pack: Pack) => Partial<Pack>): this {
    const packs = this.account.packs.map((pack) =>
      pack.purchaseRef === packRef ? { ...pack, ...change(pack) } : pack,
    )
    return this.#publish({ ...this.account, packs })
  }

  #publish(account: PackAccount): this {
    this.account = account
    this.#publishedAt = this.now
    return this
  }

  #endBefore(purchase: Purchase): Date | undefined {
    const { purchases } = this.plans
    const at = purchases.findIndex(({ reference }) => reference === purchase.reference)
    return purchases[at - 1]?.endedAt ?? undefined
  }

  #sumOf(purchase: Purchase, period: ChargedPeriod): bigint {
    return this.#sum(billedWindowOf(purchase, period, this.#endBefore(purchase)))
  }

  #sum({ fromSecond, toSecond }: { fromSecond: number; toSecond: number }): bigint {
    const units = this.usages
      .filter(({ second }) => fromSecond <= second && second < toSecond)
      .reduce((sum, each) => sum + each.units, 0)
    return BigInt(units) * unit
  }
}
