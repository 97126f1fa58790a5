import type { BillingCycle } from '@tollgate/schemas/http/plan-terms'

/*
 * Billing periods. Every period is calculated from the anchor, the instant at which the purchase started, never from the period
 * before it: 31 Jan, 28 Feb, 31 Mar. Periods are half-open and in UTC. Anchors are whole seconds, so all period bounds are too.
 */

/** `calendar`: calendar months. `fixed_days`: 30, 90 and 365 days, for providers that choose it. */
export const cycleModes = ['calendar', 'fixed_days'] as const
export type CycleMode = (typeof cycleModes)[number]

/** How the periods of one purchase follow each other. */
export type Cycle = {
  readonly anchor: Date
  readonly billingCycle: BillingCycle
  readonly mode: CycleMode
  /** Days of a custom cycle, 30 by default. */
  readonly customDays?: number | undefined
}

/** Half-open: [start, end). */
export type Period = {
  /** 0 for the period that begins at the anchor. */
  readonly index: number
  readonly start: Date
  readonly end: Date
}

export const customCycleDays = 30

const dayMs = 86_400_000

const fixedDays = { weekly: 7, monthly: 30, quarterly: 90, yearly: 365 } as const

const calendarMonths = { monthly: 1, quarterly: 3, yearly: 12 } as const

type Step = { readonly days: number } | { readonly months: number }

function stepOf(cycle: Cycle): Step {
  switch (cycle.billingCycle) {
    case 'weekly':
      return { days: fixedDays.weekly }
    case 'custom':
      return { days: cycle.customDays ?? customCycleDays }
    case 'monthly':
    case 'quarterly':
    case 'yearly':
      return cycle.mode === 'fixed_days'
        ? { days: fixedDays[cycle.billingCycle] }
        : { months: calendarMonths[cycle.billingCycle] }
  }
}

/** Returns the approximate number of days of a period. It serves to compare plans and never to charge. */
export function daysAbout({
  billingCycle,
  customDays,
}: Pick<Cycle, 'billingCycle' | 'customDays'>): number {
  return billingCycle === 'custom' ? (customDays ?? customCycleDays) : fixedDays[billingCycle]
}

/** Returns the period with that index. Negative indexes are before the anchor. */
export function periodOf(cycle: Cycle, index: number): Period {
  const step = stepOf(cycle)
  return {
    index,
    start: new Date(boundaryMs(cycle.anchor, step, index)),
    end: new Date(boundaryMs(cycle.anchor, step, index + 1)),
  }
}

/** Returns the period that contains the instant. */
export function periodAt(cycle: Cycle, instant: Date): Period {
  return periodOf(cycle, periodIndexAt(cycle, instant))
}

export function periodIndexAt(cycle: Cycle, instant: Date): number {
  const step = stepOf(cycle)
  const anchor = cycle.anchor
  if ('days' in step) {
    return Math.floor((instant.getTime() - anchor.getTime()) / (step.days * dayMs))
  }
  const months =
    (instant.getUTCFullYear() - anchor.getUTCFullYear()) * 12 +
    (instant.getUTCMonth() - anchor.getUTCMonth())
  const index = Math.floor(months / step.months)
  // If the instant is in the month of the boundary, the day and the time decide. The boundary may be clamped to the end of the
  // month.
  return boundaryMs(anchor, step, index) <= instant.getTime() ? index : index - 1
}

/**
 * Returns the period in which a purchase counts usage of that instant. A purchase that starts before its anchor has a trial until
 * the anchor, which is a period of its own with the index -1. A purchase that starts after its anchor continued a period of another
 * plan: its first period is the rest of that period.
 */
export function usagePeriodAt(cycle: Cycle, start: Date, instant: Date): Period {
  return usagePeriodOf(cycle, start, periodIndexAt(cycle, instant))
}

/** Returns the usage period with that index, or the first one if the index is smaller. */
export function usagePeriodOf(cycle: Cycle, start: Date, index: number): Period {
  if (start < cycle.anchor) {
    return index >= 0 ? periodOf(cycle, index) : { index: -1, start, end: cycle.anchor }
  }
  const first = periodIndexAt(cycle, start)
  return index > first ? periodOf(cycle, index) : { ...periodOf(cycle, first), start }
}

function boundaryMs(anchor: Date, step: Step, index: number): number {
  if ('days' in step) return anchor.getTime() + index * step.days * dayMs
  return addMonths(anchor, index * step.months)
}

/** Returns the same day of the month and time of day as the anchor. If the month has no such day, its last day is used. */
function addMonths(anchor: Date, months: number): number {
  const year = anchor.getUTCFullYear()
  const month = anchor.getUTCMonth() + months
  const daysInMonth = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const day = Math.min(anchor.getUTCDate(), daysInMonth)
  const timeOfDay = ((anchor.getTime() % dayMs) + dayMs) % dayMs
  return Date.UTC(year, month, day) + timeOfDay
}

/** Returns the instant rounded down to whole seconds, as anchors must be. */
export function wholeSecond(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / 1000) * 1000)
}

/** Returns whole Unix seconds. */
export function unixSeconds(instant: Date): number {
  return Math.floor(instant.getTime() / 1000)
}
