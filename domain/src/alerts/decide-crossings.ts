import { microsFromNumber } from '@tollgate/schemas/quantity'
import { alertInEffect, type Alert, type AlertThreshold } from './alert.ts'
import type { WatchedValue } from './watched-value.ts'

/** A threshold that a value has reached. */
export type Crossing = {
  readonly value: WatchedValue
  /** Reference of the alert; null for a budget, which has none. */
  readonly alertRef: string | null
  /** Percent of the whole, or null for an amount. */
  readonly percent: number | null
  /** The threshold in the unit of the value, rounded up. */
  readonly amount: bigint
  /** Says which threshold of the subject it is. */
  readonly threshold: string
  /** What packs add to the whole. A threshold in percent is emitted again once they add more than before. */
  readonly raised: bigint
  /** The whole limit or budget is reached. */
  readonly isWhole: boolean
}

/** An alert of a limit or budget also has a threshold at the whole of it. */
const wholePercent = 100

/** Returns all thresholds that a value has reached, the lowest first. Those that were emitted before are among them. */
export function decideCrossings(alerts: readonly Alert[], value: WatchedValue): Crossing[] {
  const crossings = thresholdsOf(alerts, value).flatMap(({ alertRef, threshold }) =>
    crossingOf(value, alertRef, threshold),
  )
  return crossings.sort((one, other) => compare(one.amount, other.amount))
}

type AppliedThreshold = { readonly alertRef: string | null; readonly threshold: AlertThreshold }

function thresholdsOf(alerts: readonly Alert[], value: WatchedValue): AppliedThreshold[] {
  const { watches, limitKey, planRef } = value
  const whole = { percent: wholePercent }
  if (watches === 'budget') return [{ alertRef: null, threshold: whole }]
  const alert = alertInEffect(alerts, { watches, limitKey, planRef })
  if (alert === undefined || alert.thresholds.length === 0) return []
  const isListed = alert.thresholds.some(
    (each) => 'percent' in each && each.percent === wholePercent,
  )
  const all = watches === 'limit' && !isListed ? [...alert.thresholds, whole] : alert.thresholds
  return all.map((threshold) => ({ alertRef: alert.reference, threshold }))
}

function crossingOf(
  value: WatchedValue,
  alertRef: string | null,
  threshold: AlertThreshold,
): Crossing[] {
  const amount = amountOf(value, threshold)
  if (amount === undefined || value.value < amount) return []
  const percent = 'percent' in threshold ? threshold.percent : null
  return [
    {
      value,
      alertRef,
      percent,
      amount,
      threshold: percent === null ? `at ${amount}` : `${percent}% of ${value.size}`,
      raised: percent === null ? 0n : (value.raised ?? 0n),
      isWhole: percent === wholePercent && value.watches !== 'spend',
    },
  ]
}

/** Returns the threshold in the unit of the value, or undefined if it does not apply to it. */
function amountOf(
  { unit, currency, whole }: WatchedValue,
  threshold: AlertThreshold,
): bigint | undefined {
  if ('percent' in threshold) {
    return whole === null ? undefined : divideUp(whole * BigInt(threshold.percent), 100n)
  }
  if ('units' in threshold) {
    return unit === 'units' ? BigInt(microsFromNumber(threshold.units)!) : undefined
  }
  if ('amountMinor' in threshold) {
    const isSame = unit === 'minor' && threshold.currency === currency
    return isSame ? BigInt(threshold.amountMinor) : undefined
  }
  return undefined
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

function compare(one: bigint, other: bigint): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
