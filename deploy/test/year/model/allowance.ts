import { boundary, indexAt } from './calendar.ts'
import { givesAccess } from './purchase.ts'
import type { ModelAllowance, ModelPurchase } from './records.ts'

/**
 * Returns the allowance that the next purchase shares. `isPaid`: the full price of the first period was charged. Call it before
 * `previous` is ended.
 */
export function sharedAllowance(
  previous: ModelPurchase | undefined,
  next: ModelPurchase,
  isPaid: boolean,
  at: number,
): ModelAllowance | undefined {
  if (previous === undefined) return undefined
  if (isPaid) return wasUnpaid(previous, at) ? unpaidAllowance(previous, next, at) : undefined
  const running = allowanceOf(previous, next, at)
  if (running.until <= next.startedAt) return undefined
  return { ...running, until: Math.max(running.until, periodEndFrom(next, running.since)) }
}

/** Returns the allowance if the previous period was not paid: its used units count against the paid one. */
function unpaidAllowance(previous: ModelPurchase, next: ModelPurchase, at: number) {
  const until = periodEndFrom(next, next.startedAt)
  return { ...allowanceOf(previous, next, at), until }
}

/** Only hybrid plans matter here, because no other plan with a price has a limit. */
function wasUnpaid(
  { plan, invoices, endedAt, end, status, suspensions }: ModelPurchase,
  at: number,
) {
  if (plan.type !== 'hybrid' || plan.price === 0) return false
  const paid = invoices
    .filter((invoice) => ['paid', 'partly_refunded', 'refunded'].includes(invoice.status))
    .flatMap(({ lines }) => lines.filter(({ kind }) => kind === 'recurring'))
  if (paid.length === 0) return false
  const last = suspensions.at(-1)
  const isSuspended = last !== undefined && last.until >= (endedAt ?? at)
  const suspendedAt = isSuspended || status === 'suspended' ? last!.from : Infinity
  const accessUntil = Math.min(at, endedAt ?? Infinity, end ?? Infinity, suspendedAt)
  return accessUntil > Math.max(...paid.map((line) => line.end!))
}

function allowanceOf(previous: ModelPurchase, next: ModelPurchase, at: number): ModelAllowance {
  const { plan, mode, anchor, startedAt, endedAt, end, allowance } = previous
  if (plan.cycle === undefined) {
    if (allowance !== undefined) return allowance
    const isHeld = givesAccess(previous, next.startedAt)
    const until = isHeld ? periodEndFrom(next, next.startedAt) : next.startedAt
    return { since: startedAt, until }
  }
  const last = Math.max(startedAt, Math.min(endedAt ?? at, end ?? at, at) - 1)
  const index = indexAt(plan.cycle, mode, anchor, last)
  const start = index < 0 ? startedAt : boundary(plan.cycle, mode, anchor, index)
  if (start <= startedAt && allowance !== undefined) return allowance
  const until = index < 0 ? anchor : boundary(plan.cycle, mode, anchor, index + 1)
  return { since: Math.max(start, startedAt), until }
}

function periodEndFrom({ plan, mode, end }: ModelPurchase, from: number): number {
  return plan.cycle === undefined ? (end ?? Infinity) : boundary(plan.cycle, mode, from, 1)
}
