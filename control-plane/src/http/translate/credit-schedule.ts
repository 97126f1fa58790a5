import type { CreditSchedule } from '@tollgate/domain/credit-schedules/credit-schedule'
import type { ScheduledGrant } from '@tollgate/domain/credit-schedules/repository'
import type {
  CreditScheduleBody,
  ScheduledGrantBody,
} from '@tollgate/schemas/http/credit-schedules'
import { definedFields } from '../../domain/defined-fields.ts'

export function creditScheduleToHttp(schedule: CreditSchedule): CreditScheduleBody {
  const { reference, customerRef, every, timeZone, expiry, priority, status, grantsDue } = schedule
  const { purchaseRef, endsAt, grantsMax, reason, endReason, nextAt } = schedule
  return {
    ...{ reference, customerRef, every, timeZone, expiry, priority, status, grantsDue },
    credits: Number(schedule.credits),
    rollOverMax: Number(schedule.rollOverMax),
    createdAt: schedule.createdAt.toISOString(),
    updatedAt: schedule.updatedAt.toISOString(),
    ...definedFields({
      ...{ purchaseRef, grantsMax, reason, endReason },
      endsAt: endsAt?.toISOString(),
      nextAt: nextAt?.toISOString(),
    }),
  }
}

export function scheduledGrantToHttp(grant: ScheduledGrant): ScheduledGrantBody {
  const { number, outcome, transactionRef } = grant
  return {
    ...{ number, outcome },
    dueAt: grant.dueAt.toISOString(),
    credits: Number(grant.credits),
    rolledOver: Number(grant.rolledOver),
    processedAt: grant.processedAt.toISOString(),
    ...definedFields({ transactionRef, expiresAt: grant.expiresAt?.toISOString() }),
  }
}
