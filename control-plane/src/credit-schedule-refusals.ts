import { refusal } from './refusal.ts'

/** The refusals of requests about schedules of credits. */
export const creditScheduleRefusals = {
  creditScheduleNotFound: (reference: string) =>
    refusal('credit_schedule_not_found', `The customer has no schedule ${reference}`),
  creditScheduleEnded: (reference: string) =>
    refusal('credit_schedule_ended', `The schedule ${reference} has ended`),
  tooManyCreditSchedules: (schedulesMax: number) =>
    refusal(
      'too_many_credit_schedules',
      `The customer has ${schedulesMax} schedules that have not ended, which is the maximum`,
    ),
} as const
