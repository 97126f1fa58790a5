import {
  meterCreateSchema,
  meterSchema,
  metersResponseSchema,
  meterUpdateSchema,
  meterUsageResponseSchema,
} from '../meters.ts'
import { examplesOf } from './example.ts'
import { refs, requestsMeter, storageMeter } from './story.ts'

const from = '2026-03-01T00:00:00.000Z'
const middle = '2026-03-02T00:00:00.000Z'
const to = '2026-03-03T00:00:00.000Z'
const sums = { total: 250, count: 250 }
const meter = { meterRef: refs.requestsMeter, meterName: 'requests' }

const usage = {
  answer: examplesOf(meterUsageResponseSchema, {
    'Of one customer': { ...meter, customerRef: refs.customer, from, to, ...sums },
    'By day': {
      ...meter,
      from,
      to,
      ...sums,
      granularity: 'day',
      buckets: [
        { start: from, end: middle, value: 180, count: 180 },
        { start: middle, end: to, value: 70, count: 70 },
      ],
    },
  }),
}

export const meterExamples = {
  listMeters: {
    answer: examplesOf(metersResponseSchema, {
      'The one that everybody has, and another': { meters: [requestsMeter, storageMeter] },
    }),
  },
  createMeter: {
    body: examplesOf(meterCreateSchema, {
      Storage: {
        name: 'gigabyte_hours',
        displayName: 'Storage',
        description: 'Gigabytes of index, by the hour',
        aggregation: 'sum',
        unit: 'GB·h',
      },
    }),
    answer: examplesOf(meterSchema, { Storage: storageMeter }),
  },
  getMeter: { answer: examplesOf(meterSchema, { Storage: storageMeter }) },
  updateMeter: {
    body: examplesOf(meterUpdateSchema, {
      'Another name': { displayName: 'Index storage' },
      'Not in use any more': { status: 'archived' },
    }),
    answer: examplesOf(meterSchema, {
      'Another name': { ...storageMeter, displayName: 'Index storage' },
    }),
  },
  getMeterUsage: usage,
  getMeterUsageByShortPath: usage,
}
