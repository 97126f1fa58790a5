import {
  meterCreateSchema,
  meterSchema,
  metersResponseSchema,
  meterUpdateSchema,
  meterUsageResponseSchema,
} from '../meters.ts'
import { examplesOf } from './example.ts'
import { refs, requestsMeter, storageMeter, tokensMeter } from './story.ts'

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
    'By the model of events': {
      meterRef: refs.tokensMeter,
      meterName: 'output_tokens',
      from,
      to,
      total: 48_210,
      count: 37,
      groups: [
        { dimensions: { model: 'large' }, value: 40_100, count: 12 },
        { dimensions: { model: 'small' }, value: 8_110, count: 25 },
      ],
    },
    'The model with the most usage, by day': {
      meterRef: refs.tokensMeter,
      meterName: 'output_tokens',
      from,
      to,
      total: 48_210,
      count: 37,
      granularity: 'day',
      groups: [
        {
          dimensions: { model: 'large' },
          value: 40_100,
          count: 12,
          buckets: [
            { start: from, end: middle, value: 40_100, count: 12 },
            { start: middle, end: to, value: 0, count: 0 },
          ],
        },
      ],
      other: {
        groups: 1,
        value: 8_110,
        count: 25,
        buckets: [
          { start: from, end: middle, value: 8_000, count: 24 },
          { start: middle, end: to, value: 110, count: 1 },
        ],
      },
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
      'Tokens of events': {
        name: 'output_tokens',
        displayName: 'Output tokens',
        aggregation: 'sum',
        unit: 'tokens',
        event: { type: 'llm.call', where: { tier: ['standard', 'priority'] } },
        value: '/usage/output_tokens',
        dimensions: ['model'],
      },
      'Cost of models': {
        name: 'model_cost',
        unit: '10^-6 USD',
        event: { type: 'llm.call' },
        dimensions: ['model'],
        modelCost: {
          inputTokens: '/usage/prompt_tokens',
          cacheReadTokens: '/usage/cached_tokens',
          outputTokens: '/usage/completion_tokens',
          prices: [{ model: 'own-model', input: '0.07', output: '0.2' }],
          unknownModel: 'refuse',
        },
      },
    }),
    answer: examplesOf(meterSchema, { Storage: storageMeter, 'Tokens of events': tokensMeter }),
  },
  getMeter: { answer: examplesOf(meterSchema, { Storage: storageMeter }) },
  updateMeter: {
    body: examplesOf(meterUpdateSchema, {
      'Another name': { displayName: 'Index storage' },
      'Not in use any more': { status: 'archived' },
      'Other events': { event: { type: 'llm.call' }, dimensions: ['model', '/user/plan'] },
    }),
    answer: examplesOf(meterSchema, {
      'Another name': { ...storageMeter, displayName: 'Index storage' },
    }),
  },
  getMeterUsage: usage,
  getMeterUsageByShortPath: usage,
}
