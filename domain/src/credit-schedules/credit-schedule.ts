import type {
  CreditScheduleExpiry,
  CreditScheduleStatus,
  ScheduleEndReason,
  ScheduleInterval,
} from '@tollgate/schemas/http/credit-schedules'
import { givesAccess } from '../purchases/access.ts'
import type { Purchase } from '../purchases/repository.ts'

/** The terms of a schedule, which the provider decides. */
export type ScheduleTerms = {
  /** Whole credits of each grant. */
  readonly credits: bigint
  readonly every: ScheduleInterval
  /** IANA name of the time zone whose calendar counts the days and months. */
  readonly timeZone: string
  /** No grant is given at this time or later. Null: there is no such time. */
  readonly endsAt: Date | null
  /** The number of dates, including those that lapsed. Null: any number. */
  readonly grantsMax: number | null
  readonly expiry: CreditScheduleExpiry
  /** Unused whole credits of an expired grant that the next one adds at most. 0 unless grants expire with the next one. */
  readonly rollOverMax: bigint
  /** The grant with the smallest number is used first. */
  readonly priority: number
  readonly reason: string | null
}

export type CreditSchedule = ScheduleTerms & {
  readonly reference: string
  readonly customerRef: string
  /** The purchase that each grant depends on. Null: none. */
  readonly purchaseRef: string | null
  /** The dates are counted from here. */
  readonly countedFrom: Date
  /** The number of steps from `countedFrom` to the next grant. */
  readonly step: number
  /** The date of the next grant. Null if the schedule has ended. */
  readonly nextAt: Date | null
  /** The number of dates that were processed. */
  readonly grantsDue: number
  readonly status: CreditScheduleStatus
  /** Null unless the schedule has ended. */
  readonly endReason: ScheduleEndReason | null
  /** When the job processes the schedule next. Null: the schedule waits for the provider or for its purchase. */
  readonly lookAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The purchase that a schedule depends on. Undefined if the schedule depends on none. */
export type OwnPurchase =
  Pick<Purchase, 'status' | 'endDate' | 'nextBillingDate' | 'autoRenew'> | undefined

/** Decision about the next date of a schedule. */
export type GrantDecision =
  /** The date has not come, or the schedule is paused or ended. */
  | { readonly kind: 'nothing' }
  /** The purchase gives no access, or the period of the date is not paid. A change of the purchase wakes the schedule. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'end'; readonly reason: ScheduleEndReason }
  | { readonly kind: 'lapse'; readonly expiresAt: Date }
  | { readonly kind: 'grant'; readonly expiresAt: Date | null }

/** Returns whether the purchase has ended for good. */
export function isEnded({ status }: Pick<Purchase, 'status'>): boolean {
  return status === 'cancelled' || status === 'expired' || status === 'refunded'
}

const dayMs = 86_400_000

/**
 * Decides about the next date of a schedule. `following` is the date after it. A grant whose purchase is not paid for that date is
 * given when it is paid, with the expiry that it would have had. A grant that would have expired by now has lapsed.
 */
export function decideGrant(
  schedule: CreditSchedule,
  purchase: OwnPurchase,
  following: Date,
  now: Date,
): GrantDecision {
  const { status, nextAt, expiry } = schedule
  if (nextAt === null) return { kind: 'nothing' }
  // A paused schedule ends with its purchase, too: the refund of the purchase takes the credits of its grants.
  if (purchase !== undefined && isEnded(purchase)) return { kind: 'end', reason: 'purchase_ended' }
  if (status !== 'active' || nextAt > now) return { kind: 'nothing' }
  if (purchase !== undefined && !isPaidFor(purchase, nextAt, now)) return { kind: 'wait' }
  const expiresAt = expiryOf(expiry, nextAt, following)
  if (expiresAt !== null && expiresAt <= now) return { kind: 'lapse', expiresAt }
  return { kind: 'grant', expiresAt }
}

/** Returns whether the purchase gives access now, and its period at `date` is paid. Only a purchase that renews has unpaid periods. */
function isPaidFor(purchase: Exclude<OwnPurchase, undefined>, date: Date, now: Date): boolean {
  const { status, nextBillingDate, autoRenew } = purchase
  if (!givesAccess(purchase, now) || status === 'past_due') return false
  return !autoRenew || nextBillingDate === null || nextBillingDate > date
}

function expiryOf(expiry: CreditScheduleExpiry, date: Date, following: Date): Date | null {
  if (expiry === 'never') return null
  return expiry === 'next_grant' ? following : new Date(date.getTime() + expiry.days * dayMs)
}

/** Returns the schedule after its next date was processed. It ends if no date is left. */
export function afterDate(schedule: CreditSchedule, following: Date, now: Date): CreditSchedule {
  const grantsDue = schedule.grantsDue + 1
  const moved = { ...schedule, grantsDue, step: schedule.step + 1, nextAt: following }
  return hasDate(moved) ? { ...moved, lookAt: following } : ended(moved, 'completed', now)
}

/** Returns whether the next date of the schedule is before its end and within the number of its grants. */
export function hasDate({
  nextAt,
  endsAt,
  grantsMax,
  grantsDue,
}: Pick<CreditSchedule, 'nextAt' | 'endsAt' | 'grantsMax' | 'grantsDue'>): boolean {
  if (nextAt === null) return false
  return (endsAt === null || nextAt < endsAt) && (grantsMax === null || grantsDue < grantsMax)
}

export function ended(
  schedule: CreditSchedule,
  endReason: ScheduleEndReason,
  now: Date,
): CreditSchedule {
  return { ...schedule, status: 'ended', endReason, nextAt: null, lookAt: null, updatedAt: now }
}

/** Returns how many of the expired credits of the last grant roll over. `expiredMicros` is in 10^-6 credits. */
export function rolledOver({ rollOverMax }: ScheduleTerms, expiredMicros: bigint): bigint {
  const whole = expiredMicros / 1_000_000n
  return whole < rollOverMax ? whole : rollOverMax
}
