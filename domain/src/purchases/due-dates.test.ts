import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { boughtPlan, snapshotOfPlan } from '../../test/bought-plans.ts'
import { decideReminder } from './decide-reminder.ts'
import { decideRenewal } from './decide-renewal.ts'
import { decideReset } from './decide-reset.ts'
import { decideTrialEnd } from './decide-trial-end.ts'
import type { Purchase } from './repository.ts'

/* Compares dates of purchases with a calendar that is implemented differently: by text, one day at a time. */

const dayMs = 86_400_000

/** Returns the same day and time a number of months later, or the last day of that month. */
function monthsLater(anchor: Date, months: number): Date {
  const [date, time] = anchor.toISOString().split('T') as [string, string]
  const [year, month, day] = date.split('-').map(Number) as [number, number, number]
  const monthCount = year * 12 + (month - 1) + months
  const yearText = String(Math.floor(monthCount / 12)).padStart(4, '0')
  const monthText = String((monthCount % 12) + 1).padStart(2, '0')
  for (let last = day; ; last -= 1) {
    const text = `${yearText}-${monthText}-${String(last).padStart(2, '0')}T${time}`
    const found = new Date(text)
    // A date that the month does not have is invalid or rolls over into the next month.
    if (!Number.isNaN(found.getTime()) && found.toISOString() === text) return found
  }
}

const monthsOf = { monthly: 1, quarterly: 3, yearly: 12 } as const
const cycles = fc.constantFrom('weekly', 'monthly', 'quarterly', 'yearly', 'custom')
type Cycle = 'weekly' | keyof typeof monthsOf | 'custom'

/** Returns the end of period number `index`, counted from 0. */
function expectedEnd(anchor: Date, cycle: Cycle, index: number, customDays: number): Date {
  if (cycle === 'weekly') return new Date(anchor.getTime() + (index + 1) * 7 * dayMs)
  if (cycle === 'custom') return new Date(anchor.getTime() + (index + 1) * customDays * dayMs)
  return monthsLater(anchor, (index + 1) * monthsOf[cycle])
}

const anchors = fc
  .integer({ min: Date.UTC(2020, 0, 1) / 1000, max: Date.UTC(2035, 11, 31) / 1000 })
  .map((second) => new Date(second * 1000))

function purchaseOf(anchor: Date, cycle: Cycle, customDays: number, first: Date): Purchase {
  const plan = snapshotOfPlan('pln_A', 0, { billingCycle: cycle, billingCycleDays: customDays })
  return boughtPlan(plan, anchor, { nextBillingDate: first, nextResetAt: first })
}

const given = [anchors, cycles, fc.integer({ min: 1, max: 400 })] as const

describe('due dates', () => {
  test('of renewals and resets are the ends of successive periods, and none is due earlier', () => {
    fc.assert(
      fc.property(...given, (anchor, cycle, customDays) => {
        const end = (index: number): Date => expectedEnd(anchor, cycle, index, customDays)
        let purchase = purchaseOf(anchor, cycle, customDays, end(0))
        for (let index = 0; index < 15; index += 1) {
          const before = new Date(end(index).getTime() - 1)
          expect(decideRenewal(purchase, before).kind).toBe('nothing')
          expect(decideReset(purchase, before).kind).toBe('nothing')
          // The same period begins, however late the job runs.
          const late = new Date(end(index).getTime() + index * 40 * dayMs)
          const renewal = decideRenewal(purchase, late)
          const reset = decideReset(purchase, late)
          const period = { start: end(index), end: end(index + 1) }
          expect(renewal).toMatchObject({ kind: 'renew', period })
          expect(reset).toMatchObject({ kind: 'reset', period, nextResetAt: period.end })
          purchase = { ...purchase, nextBillingDate: period.end, nextResetAt: period.end }
        }
      }),
      { numRuns: 500 },
    )
  })

  test('of a trial is its end, where the first paid period begins', () => {
    fc.assert(
      fc.property(...given, fc.integer({ min: 1, max: 90 }), (start, cycle, customDays, days) => {
        const anchor = new Date(start.getTime() + days * dayMs)
        const active = purchaseOf(anchor, cycle, customDays, anchor)
        const trial: Purchase = { ...active, status: 'trialing', startDate: start }
        expect(decideTrialEnd(trial, false, new Date(anchor.getTime() - 1)).kind).toBe('nothing')
        expect(decideTrialEnd(trial, false, anchor)).toEqual({
          kind: 'activate',
          nextBillingDate: expectedEnd(anchor, cycle, 0, customDays),
        })
        expect(decideReset(trial, anchor)).toMatchObject({
          kind: 'reset',
          period: { start: anchor, end: expectedEnd(anchor, cycle, 0, customDays) },
        })
      }),
    )
  })

  test('get one reminder within the configured time before them, and none afterwards', () => {
    const aheadMs = 3 * dayMs
    fc.assert(
      fc.property(anchors, fc.integer({ min: -6 * dayMs, max: 6 * dayMs }), (date, offsetMs) => {
        const now = new Date(date.getTime() + offsetMs)
        const purchase = purchaseOf(date, 'monthly', 30, date)
        const isNear = offsetMs < 0 && offsetMs >= -aheadMs
        expect(decideReminder(purchase, now, aheadMs).kind).toBe(isNear ? 'remind' : 'nothing')
        const reminded = { ...purchase, remindedOf: date }
        expect(decideReminder(reminded, now, aheadMs).kind).toBe('nothing')
      }),
    )
  })
})
