import { boundary, indexAt, wholeSecond } from './calendar.ts'
import type { ModelLine } from './invoices.ts'
import { rounded } from './money.ts'
import type { ModelPlan } from './plans.ts'
import type { ModelPurchase } from './records.ts'

/** A plan change within a paid period, which continues with the new plan (4.6). */
export type ModelSwitch = {
  readonly from: ModelPurchase
  readonly end: number
  /** Charges of the change. A credit is negative. */
  readonly charges: readonly ModelLine[]
  /** Units that the plan allows until `end`, if the previous plan was unlimited. */
  readonly cap: number | undefined
}

/** Returns undefined if the new plan begins a new period at its full price. */
export function switchTo(
  plan: ModelPlan,
  held: ModelPurchase | undefined,
  isFirst: boolean,
  at: number,
): ModelSwitch | undefined {
  if (plan.proration === 'full' || held === undefined || held.plan === plan) return undefined
  const { plan: before, status, nextBilling, mode, anchor } = held
  const isPaid = status === 'active' && (nextBilling === null || nextBilling > at)
  if (!isPaid || before.price === 0 || !haveSameCycle(before, plan)) return undefined
  const index = indexAt(plan.cycle!, mode, anchor, at)
  const start = boundary(plan.cycle!, mode, anchor, index)
  const end = boundary(plan.cycle!, mode, anchor, index + 1)
  const changedAt = wholeSecond(at)
  const left = BigInt(end - changedAt)
  const more = BigInt(plan.price - before.price)
  const amount = rounded(more * left, BigInt(end - start))
  const fee = BigInt(isFirst ? (plan.setupFee ?? 0) : 0)
  const charges: readonly ModelLine[] = [
    { kind: 'proration', start: changedAt, end, amount },
    { kind: 'setup_fee', amount: fee },
  ]
  const share = Number(left) / (end - start)
  const cap = before.cap === undefined && plan.cap !== undefined ? plan.cap * share : undefined
  return { from: held, end, cap, charges: charges.filter((line) => line.amount !== 0n) }
}

export function costOf({ charges }: ModelSwitch): bigint {
  return charges.reduce((sum, { amount }) => sum + amount, 0n)
}

function haveSameCycle(one: ModelPlan, other: ModelPlan): boolean {
  const isPeriodic = ({ type }: ModelPlan): boolean => type === 'recurring' || type === 'hybrid'
  return (
    isPeriodic(one) &&
    isPeriodic(other) &&
    one.cycle?.cycle === other.cycle?.cycle &&
    one.cycle?.days === other.cycle?.days
  )
}
