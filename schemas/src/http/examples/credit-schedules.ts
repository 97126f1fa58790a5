import {
  creditScheduleChangeSchema,
  creditScheduleCreateSchema,
  creditScheduleSchema,
  creditSchedulesResponseSchema,
  scheduledGrantsResponseSchema,
  type CreditScheduleBody,
} from '../credit-schedules.ts'
import { examplesOf } from './example.ts'
import { instants, refs } from './story.ts'

const schedule: CreditScheduleBody = {
  ...{ reference: refs.creditSchedule, customerRef: refs.customer },
  ...{ credits: 50_000, every: { unit: 'month', count: 1 }, timeZone: 'Europe/Paris' },
  ...{ expiry: 'next_grant', rollOverMax: 10_000, priority: -1, reason: 'Monthly allowance' },
  ...{ status: 'active', nextAt: '2026-03-31T22:00:00.000Z', grantsDue: 1 },
  ...{ createdAt: instants.created, updatedAt: instants.created },
}

const answer = examplesOf(creditScheduleSchema, { Active: schedule })

export const creditScheduleExamples = {
  createCreditSchedule: {
    body: examplesOf(creditScheduleCreateSchema, {
      'Five dollars a month, use it or lose it': {
        ...{ credits: 50_000, every: { unit: 'month', count: 1 }, timeZone: 'Europe/Paris' },
        ...{ expiry: 'next_grant', rollOverMax: 10_000, reason: 'Monthly allowance' },
      },
      'A dollar a week for ten weeks, while a purchase is paid': {
        ...{ credits: 10_000, every: { unit: 'week', count: 1 }, grantsMax: 10 },
        ...{ expiry: { days: 30 }, purchaseRef: refs.purchase },
      },
    }),
    answer,
  },
  listCreditSchedules: {
    answer: examplesOf(creditSchedulesResponseSchema, {
      'One schedule': { schedules: [schedule], total: 1, limit: 25, offset: 0 },
    }),
  },
  listScheduledGrants: {
    answer: examplesOf(scheduledGrantsResponseSchema, {
      'One grant': {
        grants: [
          {
            ...{ number: 1, dueAt: instants.created, outcome: 'granted' },
            ...{ transactionRef: 'txn_8KQ2MZ4XW7RT', credits: 50_000, rolledOver: 0 },
            ...{ expiresAt: '2026-03-31T22:00:00.000Z', processedAt: instants.created },
          },
        ],
        ...{ total: 1, limit: 25, offset: 0 },
      },
    }),
  },
  changeCreditSchedule: {
    body: examplesOf(creditScheduleChangeSchema, {
      'More credits from the next grant on': { credits: 80_000 },
      'No end': { endsAt: null, grantsMax: null },
    }),
    answer: examplesOf(creditScheduleSchema, { Changed: { ...schedule, credits: 80_000 } }),
  },
  pauseCreditSchedule: {
    answer: examplesOf(creditScheduleSchema, { Paused: { ...schedule, status: 'paused' } }),
  },
  resumeCreditSchedule: { answer },
  endCreditSchedule: {
    answer: examplesOf(creditScheduleSchema, {
      Ended: {
        ...schedule,
        ...{ status: 'ended', endReason: 'ended', nextAt: undefined },
      },
    }),
  },
}
