import type { CreditScheduleChange } from '@tollgate/schemas/http/credit-schedules'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { lockCustomer } from '../customers/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { rollOverFaults } from './create-schedule.ts'
import { ended, hasDate, type CreditSchedule } from './credit-schedule.ts'
import { firstDateFrom } from './dates.ts'
import { lockSchedule, updateSchedule } from './repository.ts'

/** Names a schedule and its customer, by the customer's own reference. */
export type ScheduleName = { readonly customerRef: string; readonly reference: string }

export type ChangeScheduleOutcome =
  | { readonly kind: 'changed'; readonly schedule: CreditSchedule }
  | { readonly kind: 'not-found' }
  /** An ended schedule does not change. */
  | { readonly kind: 'ended' }
  | { readonly kind: 'invalid'; readonly issues: readonly ValidationIssue[] }

/**
 * Changes the terms of a schedule from its next grant on. Grants that were given keep their credits and their expiry. The next date
 * stays, so that a grant that expires with the next one does so; a new interval is counted from it.
 */
export async function changeSchedule(
  work: UnitOfWork,
  name: ScheduleName,
  change: CreditScheduleChange,
): Promise<ChangeScheduleOutcome> {
  const { sql, providerId, now } = work
  const schedule = await lockNamed(work, name)
  if (schedule === undefined) return { kind: 'not-found' }
  if (schedule.status === 'ended') return { kind: 'ended' }
  const changed = withChange(schedule, change, now)
  const issues = rollOverFaults(changed)
  if (issues.length > 0) return { kind: 'invalid', issues }
  const after = hasDate(changed) ? changed : ended(changed, 'completed', now)
  await updateSchedule(sql, providerId, after)
  return { kind: 'changed', schedule: after }
}

function withChange(
  schedule: CreditSchedule,
  change: CreditScheduleChange,
  now: Date,
): CreditSchedule {
  const { credits, every, timeZone, endsAt, grantsMax, expiry, rollOverMax, priority } = change
  const isRecounted = every !== undefined || timeZone !== undefined
  return {
    ...schedule,
    ...(isRecounted && schedule.nextAt !== null ? { countedFrom: schedule.nextAt, step: 0 } : {}),
    credits: credits === undefined ? schedule.credits : BigInt(credits),
    every: every ?? schedule.every,
    timeZone: timeZone ?? schedule.timeZone,
    endsAt: endsAt === undefined ? schedule.endsAt : endsAt === null ? null : new Date(endsAt),
    grantsMax: grantsMax === undefined ? schedule.grantsMax : grantsMax,
    expiry: expiry ?? schedule.expiry,
    rollOverMax: rollOverMax === undefined ? schedule.rollOverMax : BigInt(rollOverMax),
    priority: priority ?? schedule.priority,
    reason: change.reason ?? schedule.reason,
    updatedAt: now,
  }
}

export const scheduleMoves = ['pause', 'resume', 'end'] as const

export type ScheduleMove = (typeof scheduleMoves)[number]

/**
 * Pauses, resumes or ends a schedule. A repeated request changes nothing. Dates within a pause are passed over: they give nothing
 * later, and do not count as grants. Grants that were given stay.
 */
export async function moveSchedule(
  work: UnitOfWork,
  name: ScheduleName,
  move: ScheduleMove,
): Promise<Exclude<ChangeScheduleOutcome, { kind: 'invalid' }>> {
  const { sql, providerId, now } = work
  const schedule = await lockNamed(work, name)
  if (schedule === undefined) return { kind: 'not-found' }
  if (schedule.status === 'ended') {
    return move === 'end' ? { kind: 'changed', schedule } : { kind: 'ended' }
  }
  const after = await moved(work, schedule, move, now)
  if (after !== schedule) await updateSchedule(sql, providerId, after)
  return { kind: 'changed', schedule: after }
}

async function moved(
  { sql }: UnitOfWork,
  schedule: CreditSchedule,
  move: ScheduleMove,
  now: Date,
): Promise<CreditSchedule> {
  switch (move) {
    case 'pause':
      if (schedule.status === 'paused') return schedule
      return { ...schedule, status: 'paused', lookAt: null, updatedAt: now }
    case 'resume': {
      if (schedule.status === 'active') return schedule
      const next = await firstDateFrom(sql, schedule, schedule.step, now)
      const { step, at } = next
      const resumed = { ...schedule, step, nextAt: at, lookAt: at, updatedAt: now }
      const active = { ...resumed, status: 'active' as const }
      return hasDate(active) ? active : ended(active, 'completed', now)
    }
    case 'end':
      return ended(schedule, 'ended', now)
  }
}

/** Locks the customer, then the schedule. */
async function lockNamed(
  { sql, providerId }: UnitOfWork,
  { customerRef, reference }: ScheduleName,
): Promise<CreditSchedule | undefined> {
  await lockCustomer(sql, providerId, customerRef)
  const schedule = await lockSchedule(sql, providerId, reference)
  return schedule?.customerRef === customerRef ? schedule : undefined
}
