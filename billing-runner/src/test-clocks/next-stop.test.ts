import { describe, expect, test } from 'vitest'
import { everyInstant, parseSchedule } from '../schedule/schedule.ts'
import { nextStop } from './next-stop.ts'

const at = (time: string): Date => new Date(`2030-01-${time}:00.000Z`)

const renewals = { name: 'renewals', schedule: parseSchedule('0 10 * * *') }
const bills = { name: 'bills', schedule: parseSchedule('0 11 * * *') }
const expiry = { name: 'expiry', schedule: everyInstant }
const jobs = [expiry, renewals, bills]

const times = {
  timeReached: at('10T12:00'),
  processedTo: at('10T12:00'),
  advanceTo: at('20T00:00'),
}

function stopOf(
  due: Readonly<Record<string, { next?: string; isOverdue?: boolean }>>,
  change: Partial<typeof times> = {},
  pauses: Readonly<Record<string, string>> = {},
): string {
  const instants = new Map(
    Object.entries(due).map(([name, { next, isOverdue = false }]) => [
      name,
      { isOverdue, next: next === undefined ? undefined : at(next) },
    ]),
  )
  const paused = new Map(
    Object.entries(pauses).map(([name, until]) => [name, { until: at(until), ms: 60_000 }]),
  )
  const stop = nextStop(jobs, instants, { ...times, ...change }, paused)
  if (stop === undefined) return 'none'
  return `${stop.at.toISOString().slice(8, 16)} ${stop.jobs.map(({ name }) => name).join()}`
}

describe('the next stop of a clock', () => {
  test('is the first time of a schedule at which something is due', () => {
    expect(stopOf({ renewals: { next: '12T00:00' }, bills: { next: '11T11:30' } })).toBe(
      '12T10:00 renewals',
    )
    expect(stopOf({ renewals: { next: '12T10:00' } })).toBe('12T10:00 renewals')
    expect(stopOf({ renewals: { next: '12T10:01' } })).toBe('13T10:00 renewals')
  })

  test('is the very instant for jobs without a schedule', () => {
    expect(stopOf({ expiry: { next: '12T04:05' } })).toBe('12T04:05 expiry')
  })

  test('runs all jobs that are due at the same time', () => {
    expect(stopOf({ expiry: { next: '12T10:00' }, renewals: { next: '12T00:00' } })).toBe(
      '12T10:00 expiry,renewals',
    )
  })

  test('tries overdue items at the next time of the schedule, and later after a pause', () => {
    expect(stopOf({ renewals: { isOverdue: true } })).toBe('11T10:00 renewals')
    const renewalsWait = { renewals: '11T12:00' }
    expect(stopOf({ renewals: { isOverdue: true } }, {}, renewalsWait)).toBe('12T10:00 renewals')
    expect(stopOf({ renewals: { isOverdue: true, next: '10T13:00' } }, {}, renewalsWait)).toBe(
      '11T10:00 renewals',
    )
  })

  test('is not postponed by other jobs that wait', () => {
    const due = { renewals: { isOverdue: true }, expiry: { isOverdue: true } }
    // Expiry has done nothing at 8:00, and waits for a day. Renewals would wait forever if they waited for expiry.
    const reached = { timeReached: at('11T08:00'), processedTo: at('11T08:00') }
    expect(stopOf(due, reached, { expiry: '12T08:00' })).toBe('11T10:00 renewals')
  })

  test('is where a killed runner stood, and never before', () => {
    const killed = { timeReached: at('15T10:00') }
    expect(stopOf({ renewals: { isOverdue: true } }, killed)).toBe('15T10:00 renewals')
    expect(stopOf({ renewals: { next: '15T09:00' } }, killed)).toBe('15T10:00 renewals')
  })

  test('is none if nothing is due until the end of the advance', () => {
    expect(stopOf({})).toBe('none')
    expect(stopOf({ renewals: { next: '19T10:01' } })).toBe('none')
    expect(stopOf({ renewals: { next: '19T10:00' } })).toBe('19T10:00 renewals')
  })
})
