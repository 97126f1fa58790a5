import { oraclePrice, Rational, type OraclePlan } from '../../../domain/test/pricing-oracle.ts'

/*
 * A second, independent implementation of usage billing: a list of records, and a loop over periods with explicit dates. It shares
 * no code with `domain/src`.
 */

export type ModelCycle =
  { readonly kind: 'days'; readonly days: number } | { readonly kind: 'months' }

export type ModelPurchase = {
  readonly reference: string
  readonly plan: OraclePlan & { readonly rollsOver: boolean }
  readonly cycle: ModelCycle
  readonly startMs: number
  endMs: number | undefined
  /** Earlier usage belongs to the previous purchase. */
  readonly previousEndMs: number | undefined
}

export type ModelRecord = { readonly atMs: number; readonly micros: bigint }

export type ModelLine = {
  readonly kind: 'usage' | 'late_usage'
  readonly startMs: number
  readonly endMs: number
  readonly usedMicros: bigint
  readonly lateMicros: bigint
  readonly carriedMicros: bigint
  readonly exact: Rational
}

const graceMs = 3_600_000
const closesAfterMs = graceMs + 30 * 86_400_000
const dollars = { unitsPerDollar: '1', decimals: 2 } as const

/** The invoices of one purchase when its usage is billed. */
export class UsageBillModel {
  readonly purchase: ModelPurchase
  readonly #billed: { startMs: number; endMs: number; micros: bigint; carried: bigint }[] = []
  #isClosed = false

  constructor(purchase: ModelPurchase) {
    this.purchase = purchase
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Returns the usage lines of each invoice that is issued at a given time, in order. */
  bill(records: readonly ModelRecord[], nowMs: number): ModelLine[][] {
    const invoices: ModelLine[][] = []
    const { startMs, endMs: endedMs } = this.purchase
    for (;;) {
      const fromMs = this.#billed.at(-1)?.endMs ?? startMs
      if (endedMs !== undefined && fromMs >= endedMs) break
      const wholeMs = this.#boundary(this.#billed.length + 1)
      const toMs = endedMs !== undefined && endedMs < wholeMs ? endedMs : wholeMs
      if (toMs + graceMs > nowMs) return invoices
      const late = this.#late(records)
      const used = this.#sum(records, fromMs, toMs)
      const carried = this.#carriedOver()
      this.#billed.push({ startMs: fromMs, endMs: toMs, micros: used, carried })
      const exact = this.#price(used, carried)
      const micros = { usedMicros: used, lateMicros: 0n, carriedMicros: carried }
      const line = { startMs: fromMs, endMs: toMs, ...micros, exact }
      invoices.push([...late, { kind: 'usage', ...line }])
    }
    if (!this.#isClosed && endedMs + closesAfterMs <= nowMs) {
      this.#isClosed = true
      const late = this.#late(records)
      if (late.length > 0) invoices.push(late)
    }
    return invoices
  }

  /** Returns the cost of all usage of the billed periods, including late usage. */
  costOfAll(records: readonly ModelRecord[]): Rational {
    return this.#billed.reduce(
      (sum, { startMs, endMs, carried }) =>
        sum.plus(this.#price(this.#sum(records, startMs, endMs), carried)),
      Rational.of(0n),
    )
  }

  #late(records: readonly ModelRecord[]): ModelLine[] {
    return this.#billed.flatMap((period) => {
      const { startMs, endMs, micros: before, carried } = period
      const micros = this.#sum(records, startMs, endMs)
      if (micros === before) return []
      period.micros = micros
      const exact = this.#price(micros, carried).minus(this.#price(before, carried))
      const amounts = { usedMicros: before, lateMicros: micros - before, carriedMicros: carried }
      return [{ kind: 'late_usage', startMs, endMs, ...amounts, exact } as const]
    })
  }

  #carriedOver(): bigint {
    const { plan } = this.purchase
    const before = this.#billed.at(-1)
    const limit = BigInt(Math.round(Number(plan.limit ?? '0') * 1_000_000))
    if (!plan.rollsOver || before === undefined || limit === 0n) return 0n
    return limit > before.micros ? limit - before.micros : 0n
  }

  #price(micros: bigint, carried: bigint): Rational {
    return oraclePrice(this.purchase.plan, text(micros), text(carried), dollars)
  }

  #sum(records: readonly ModelRecord[], startMs: number, endMs: number): bigint {
    const { startMs: firstMs, previousEndMs } = this.purchase
    const afterPrevious = Math.ceil((previousEndMs ?? 0) / 1000) * 1000
    const fromMs = startMs === firstMs ? Math.max(startMs - 300_000, afterPrevious) : startMs
    const toMs = Math.ceil(endMs / 1000) * 1000
    return records
      .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
      .reduce((sum, { micros }) => sum + micros, 0n)
  }

  /** Returns the start of the period number `index`, counted from 0. */
  #boundary(index: number): number {
    const { cycle, startMs } = this.purchase
    if (cycle.kind === 'days') return startMs + index * cycle.days * 86_400_000
    const [date, time] = new Date(startMs).toISOString().split('T') as [string, string]
    const [year, month, day] = date.split('-').map(Number) as [number, number, number]
    const months = year * 12 + month - 1 + index
    for (let last = day; ; last -= 1) {
      const monthText = String((months % 12) + 1).padStart(2, '0')
      const iso = `${Math.floor(months / 12)}-${monthText}-${String(last).padStart(2, '0')}T${time}`
      const found = new Date(iso)
      if (!Number.isNaN(found.getTime()) && found.toISOString() === iso) return found.getTime()
    }
  }
}

function text(micros: bigint): string {
  const digits = micros.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}
