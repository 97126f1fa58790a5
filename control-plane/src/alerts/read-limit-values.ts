import type { WatchedPeriod, WatchedValue } from '@tollgate/domain/alerts/watched-value'
import { allowedMicros } from '@tollgate/domain/entitlements/allowed-units'
import {
  hasCharges,
  limitStates,
  metersToRead,
  type LimitState,
  type MeterToRead,
  type MeterUsage,
} from '@tollgate/domain/entitlements/charge-limits'
import { farFuture } from '@tollgate/domain/entitlements/compile-entitlement'
import { windowOfPeriod } from '@tollgate/domain/entitlements/counting-windows'
import { isBucketed } from '@tollgate/domain/entitlements/entitled-limits'
import { limitsOfPeriod } from '@tollgate/domain/entitlements/first-period'
import { includedMicros, planOfPeriod } from '@tollgate/domain/plans/included-units'
import { bucketRangeAt } from '@tollgate/platform/hot-state/bucket-windows'
import type { Environment } from '@tollgate/schemas/environment'
import type { LimitWindow } from '@tollgate/schemas/hot-state/documents'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { ensurePublished, type PublishedParts } from '../limits/ensure-published.ts'
import type { PeriodOfPurchase, PeriodUsage, UsageOfPeriod } from '../limits/period-usage.ts'
import { includedCharges, readIncludedUsage, type IncludedParts } from './included-usage.ts'
import type { WatchedPurchasePeriod } from './watched-periods.ts'

export type LimitValueParts = PublishedParts & IncludedParts & { readonly usage: PeriodUsage }

export type WatchContext = {
  readonly environment: Environment
  readonly providerId: string
  readonly now: Date
}

/**
 * Returns the limits of a purchase in one period with their usage: the values of a limit check for the running period, and those of
 * the usage store for an ended one.
 */
export async function readLimitValues(
  parts: LimitValueParts,
  context: WatchContext,
  watched: WatchedPurchasePeriod,
): Promise<WatchedValue[]> {
  const counted = {
    environment: context.environment,
    providerId: context.providerId,
    productRef: watched.purchase.productRef,
    entitlement: watched.entitlement,
    periodStartSecond: watched.period.startSecond,
    nowMs: context.now.getTime(),
  }
  return hasCharges(watched.entitlement)
    ? readChargeValues(parts, context, watched, counted)
    : readPlainValues(parts, watched, counted)
}

/** A plan without charges limits `requests`, or includes some of them before overage begins. */
async function readPlainValues(
  parts: LimitValueParts,
  watched: WatchedPurchasePeriod,
  counted: PeriodOfPurchase,
): Promise<WatchedValue[]> {
  const { purchase, entitlement, period, isCurrent } = watched
  const used: UsageOfPeriod = isCurrent
    ? await parts.usage.read(counted, requestsMeterName, () => ensurePublished(parts, counted))
    : await parts.usage.readPast(counted, requestsMeterName)
  const { usedMicros, carriedOverMicros, packs } = used
  const cap = allowedMicros(entitlement, period, carriedOverMicros, packs)
  const limits = limitsOfPeriod(entitlement, period.startSecond)
  const ofRequests = {
    limitKey: requestsMeterName,
    meterName: requestsMeterName,
    value: usedMicros,
  }
  const values: WatchedValue[] = []
  if (cap !== null) {
    const size = [limits.cap ?? '', limits.unbilled?.units ?? ''].join('/')
    const capped = { whole: cap, subject: 'cap requests', size, raised: packs?.addedMicros ?? 0n }
    values.push({ ...ofPeriod(watched), ...ofRequests, ...capped })
  }
  const start = new Date(period.startSecond * 1_000)
  const plan = planOfPeriod(watched.plan, purchase, { start })
  const included = plan.type === 'hybrid' ? (includedMicros(plan) ?? 0n) : 0n
  if (included > 0n) {
    const whole = included + carriedOverMicros
    const size = included.toString()
    values.push({ ...ofPeriod(watched), ...ofRequests, whole, subject: 'included requests', size })
  }
  return values
}

async function readChargeValues(
  parts: LimitValueParts,
  { now }: WatchContext,
  watched: WatchedPurchasePeriod,
  counted: PeriodOfPurchase,
): Promise<WatchedValue[]> {
  const { entitlement, period, isCurrent } = watched
  if (!hasCharges(entitlement)) return []
  const nowSecond = Math.floor(now.getTime() / 1_000)
  const meters = metersToRead(entitlement, undefined, nowSecond)
  const usedByMeter = isCurrent
    ? await parts.usage.readMeters(counted, meters, () => ensurePublished(parts, counted))
    : await readPastMeters(parts, counted, meters)
  const check = { entitlement, period, nowSecond, usedByMeter, creditMicros: 0n }
  const states = limitStates({ ...check, meterName: undefined })
  const windows = new Map(entitlement.limits?.map(({ key, window }) => [key, window]))
  const values = states.flatMap((state) => {
    const window = state.charge === undefined ? windows.get(state.key) : periodWindow
    const { capMicros } = state
    if (capMicros === null || window === undefined) return []
    // Windows of time are not those of the period: the running one is read with the running period.
    if (isBucketed(window) && !isCurrent) return []
    return [stateValue(watched, { ...state, capMicros }, window, nowSecond)]
  })
  const included = includedCharges(watched.plan)
  const usage = await readIncludedUsage(parts, counted, watched, included)
  return [
    ...values,
    ...included.map(({ key, meterName, includedMicros: whole }, at): WatchedValue => {
      const [size, value] = [whole.toString(), usage[at]!]
      const named = { limitKey: key, meterName, subject: `included ${key}` }
      return { ...ofPeriod(watched), ...named, value, whole, size }
    }),
  ]
}

const periodWindow: LimitWindow = { kind: 'period' }

async function readPastMeters(
  { usage }: LimitValueParts,
  counted: PeriodOfPurchase,
  meters: readonly MeterToRead[],
): Promise<Map<string, MeterUsage>> {
  const usedByMeter = new Map<string, MeterUsage>()
  for (const { meterName } of meters) {
    const { usedMicros, packs } = await usage.readPast(counted, meterName)
    usedByMeter.set(meterName, { periodMicros: usedMicros, spans: new Map(), packs })
  }
  return usedByMeter
}

type CappedState = LimitState & { readonly capMicros: bigint }

function stateValue(
  watched: WatchedPurchasePeriod,
  { key, meterName, charge, capMicros, usedMicros: value }: CappedState,
  window: LimitWindow,
  nowSecond: number,
): WatchedValue {
  const whole = capMicros
  // Packs add to the whole, and are no change of the limit that the plan states.
  const stated = BigInt(charge?.cap ?? whole)
  const subject = `${charge === undefined ? 'window' : 'cap'} ${key}`
  const raised = whole - stated
  const named = { limitKey: key, meterName, subject, value, whole, size: String(stated), raised }
  if (!isBucketed(window)) return { ...ofPeriod(watched), ...named }
  const { startSecond, endSecond } = bucketRangeAt(window, nowSecond)
  const id = `${window.kind}@${startSecond}`
  const [start, end] = [new Date(startSecond * 1_000), new Date(endSecond * 1_000)]
  const value_ = { ...ofPeriod(watched), ...named, period: { id, start, end } }
  return window.kind === 'rolling' ? { ...value_, rollingSeconds: window.seconds } : value_
}

/** Returns the fields that all values of the period share. */
export function ofPeriod({ purchase, plan, entitlement, period }: WatchedPurchasePeriod) {
  return {
    watches: 'limit',
    productRef: purchase.productRef,
    purchaseRef: purchase.reference,
    planRef: plan.reference,
    unit: 'units',
    currency: null,
    period: {
      id: windowOfPeriod(entitlement, period.startSecond),
      start: new Date(period.startSecond * 1_000),
      end: endOf(period.endSecond),
    } satisfies WatchedPeriod,
  } as const
}

function endOf(endSecond: number): Date | null {
  return endSecond * 1_000 >= farFuture.getTime() ? null : new Date(endSecond * 1_000)
}
