import {
  alertCreateSchema,
  alertDeletedSchema,
  alertSchema,
  alertsResponseSchema,
  alertUpdateSchema,
  budgetsResponseSchema,
  type AlertBody,
} from '../alerts.ts'
import { examplesOf } from './example.ts'
import { instants, refs } from './story.ts'

const alert: AlertBody = {
  reference: refs.alert,
  watches: 'limit',
  thresholds: [{ percent: 50 }, { percent: 80 }],
  createdAt: instants.created,
  updatedAt: instants.created,
}

const answer = examplesOf(alertSchema, { 'On every limit': alert })

export const alertExamples = {
  listAlerts: {
    answer: examplesOf(alertsResponseSchema, { 'The default': { alerts: [alert] } }),
  },
  createAlert: {
    body: examplesOf(alertCreateSchema, {
      'On every limit of all customers': { watches: 'limit', thresholds: alert.thresholds },
      'On one limit of a plan': {
        watches: 'limit',
        limit: 'tokens',
        planRef: refs.proPlan,
        thresholds: [{ units: 900_000 }],
      },
      'On the wallet of a customer': {
        watches: 'wallet',
        customerRef: refs.externalRef,
        thresholds: [{ credits: 10_000 }, { credits: 1_000 }],
      },
      'On the cost of a period': {
        watches: 'spend',
        thresholds: [{ percent: 80 }, { amountMinor: 10_000, currency: 'USD' }],
      },
    }),
    answer,
  },
  getAlert: { answer },
  updateAlert: {
    body: examplesOf(alertUpdateSchema, { 'One more': { thresholds: [{ percent: 90 }] } }),
    answer,
  },
  deleteAlert: { answer: examplesOf(alertDeletedSchema, { Deleted: { success: true } }) },
  listBudgets: {
    answer: examplesOf(budgetsResponseSchema, {
      'Used up': {
        budgets: [
          {
            productRef: refs.product,
            amountMinor: 5_000,
            currency: 'USD',
            action: 'stop',
            spentMinor: 5_012,
            measuredAt: instants.now,
            periodEnd: instants.periodEnd,
            isStopped: true,
            updatedAt: instants.created,
          },
        ],
      },
    }),
  },
}
