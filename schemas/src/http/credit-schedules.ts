import { z } from 'zod'
import {
  grantCreditsMax,
  grantPriorityMax,
  scheduledGrantsMax,
  scheduleExpiryDaysMax,
  scheduleIntervalMax,
} from '../limits.ts'
import {
  longText,
  pageQuery,
  requiredReference,
  storedInstantText,
  timeZoneName,
} from './fields.ts'

/* Credits that a customer gets repeatedly. */

export const scheduleUnits = ['day', 'week', 'month'] as const

const interval = z.object({
  unit: z.enum(scheduleUnits),
  count: z.int().min(1).max(scheduleIntervalMax),
})

export type ScheduleInterval = z.infer<typeof interval>

const expiry = z.union([
  z.enum(['never', 'next_grant']),
  z.object({ days: z.int().min(1).max(scheduleExpiryDaysMax) }),
])

/** When the unused rest of each grant expires: never, at the next date, or so many days of 24 hours after its date. */
export type CreditScheduleExpiry = z.infer<typeof expiry>

const terms = {
  /** Whole credits of each grant. */
  credits: z.int().min(1).max(grantCreditsMax),
  every: interval,
  /** The time zone whose calendar counts days and months. Default: UTC. */
  timeZone: timeZoneName.optional(),
  /** No grant is given at this time or later. */
  endsAt: storedInstantText.optional(),
  /** The number of grants, including those that lapse. */
  grantsMax: z.int().min(1).max(scheduledGrantsMax).optional(),
  /** Default: `never`. */
  expiry: expiry.optional(),
  /** Unused credits of an expired grant that the next one adds at most. Only with the expiry `next_grant`. Default: 0. */
  rollOverMax: z.int().min(0).max(grantCreditsMax).optional(),
  priority: z.int().min(-grantPriorityMax).max(grantPriorityMax).optional(),
  reason: longText.optional(),
}

export const creditScheduleCreateSchema = z.object({
  ...terms,
  /** The date of the first grant. Default: now. */
  startsAt: storedInstantText.optional(),
  /** A purchase of the customer. Grants are given while it is paid, and end with it. */
  purchaseRef: requiredReference.optional(),
})

export type CreditScheduleInput = z.infer<typeof creditScheduleCreateSchema>

export const creditScheduleChangeSchema = z
  .object({
    ...terms,
    // `null` removes the end.
    endsAt: storedInstantText.nullable(),
    grantsMax: z.int().min(1).max(scheduledGrantsMax).nullable(),
  })
  .partial()

export type CreditScheduleChange = z.infer<typeof creditScheduleChangeSchema>

export const creditScheduleStatuses = ['active', 'paused', 'ended'] as const

export type CreditScheduleStatus = (typeof creditScheduleStatuses)[number]

export const scheduleEndReasons = [
  'completed',
  'ended',
  'purchase_ended',
  'customer_deleted',
] as const

export type ScheduleEndReason = (typeof scheduleEndReasons)[number]

export const creditScheduleSchema = z.object({
  reference: z.string(),
  customerRef: z.string(),
  purchaseRef: z.string().optional(),
  credits: z.int(),
  every: interval,
  timeZone: z.string(),
  endsAt: z.string().optional(),
  grantsMax: z.int().optional(),
  expiry,
  rollOverMax: z.int(),
  priority: z.int(),
  reason: z.string().optional(),
  status: z.enum(creditScheduleStatuses),
  /** `completed`: its end or the number of its grants is reached. Only if it has ended. */
  endReason: z.enum(scheduleEndReasons).optional(),
  /** The date of the next grant. Missing if the schedule has ended. A paused schedule gives no grant at this date. */
  nextAt: z.string().optional(),
  /** The number of dates that were processed. */
  grantsDue: z.int().nonnegative(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type CreditScheduleBody = z.infer<typeof creditScheduleSchema>

const count = z.int().nonnegative()

export const creditSchedulesResponseSchema = z.object({
  schedules: z.array(creditScheduleSchema),
  total: count,
  limit: count,
  offset: count,
})

export const scheduledGrantsQuerySchema = z.object(pageQuery)

export const scheduledGrantOutcomes = ['granted', 'lapsed', 'refused'] as const

export type ScheduledGrantOutcome = (typeof scheduledGrantOutcomes)[number]

export const scheduledGrantSchema = z.object({
  /** Counts from 1. */
  number: z.int(),
  dueAt: z.string(),
  /** `lapsed`: the credits had expired before they could be given. `refused`: the wallet takes no more credits. */
  outcome: z.enum(scheduledGrantOutcomes),
  /** The ledger entry of the grant. */
  transactionRef: z.string().optional(),
  /** Credits that were granted or lapsed, with those that rolled over. */
  credits: z.int(),
  rolledOver: z.int(),
  expiresAt: z.string().optional(),
  processedAt: z.string(),
})

export type ScheduledGrantBody = z.infer<typeof scheduledGrantSchema>

export const scheduledGrantsResponseSchema = z.object({
  grants: z.array(scheduledGrantSchema),
  total: count,
  limit: count,
  offset: count,
})
