import {
  usageCorrectionCreateSchema,
  usageCorrectionsBatchResponseSchema,
  usageCorrectionsBatchSchema,
  usageCorrectionSchema,
  usageCorrectionsResponseSchema,
  type UsageCorrectionBody,
} from '../usage-corrections.ts'
import { examplesOf } from './example.ts'
import { instants, refs } from './story.ts'

const filter = {
  customerRef: refs.customer,
  productRef: refs.product,
  meterName: 'requests',
  from: '2026-03-10T00:00:00.000Z',
  to: '2026-03-11T00:00:00.000Z',
}

const reason = 'A faulty release counted each search twice'

const request = { filter, action: 'remove' as const, reason, author: 'Grace' }

const changes = [
  {
    customerRef: refs.customer,
    productRef: refs.product,
    meterName: 'requests',
    records: 1_000,
    units: -1_000,
  },
]

const applied: UsageCorrectionBody = {
  reference: refs.usageCorrection,
  status: 'applied',
  ...request,
  recordsCorrected: 1_000,
  recordsSkipped: 0,
  changes,
  createdAt: instants.now,
  appliedAt: '2026-03-14T08:15:31.020Z',
}

const dryRun: UsageCorrectionBody = {
  ...request,
  recordsCorrected: 1_000,
  recordsSkipped: 0,
  changes,
  periods: [
    {
      purchaseRef: refs.purchase,
      customerRef: refs.customer,
      periodStart: instants.created,
      periodEnd: instants.periodEnd,
      state: 'open',
      currency: 'USD',
      amountMinor: -500,
    },
  ],
}

const single = {
  record: { customerRef: refs.externalRef, idempotencyKey: 'search-42' },
  action: 'set' as const,
  value: 3,
  reason: 'The search had 3 pages',
  idempotencyKey: 'fix-search-42',
}

const { changes: _, ...listed } = applied

export const usageCorrectionExamples = {
  correctUsage: {
    body: examplesOf(usageCorrectionCreateSchema, {
      'Dry run of a day': { ...request, dryRun: true },
      'A day': request,
      'The value of a record': single,
    }),
    answer: examplesOf(usageCorrectionSchema, { Applied: applied, 'Dry run': dryRun }),
  },
  correctUsageInBatch: {
    body: examplesOf(usageCorrectionsBatchSchema, { Two: { corrections: [request, single] } }),
    answer: examplesOf(usageCorrectionsBatchResponseSchema, { One: { corrections: [applied] } }),
  },
  listUsageCorrections: {
    answer: examplesOf(usageCorrectionsResponseSchema, {
      One: { corrections: [listed], total: 1 },
    }),
  },
  getUsageCorrection: { answer: examplesOf(usageCorrectionSchema, { Applied: applied }) },
}
