import { expect, test } from 'vitest'
import { limitCheck, bulk } from '../paths.ts'
import { pathFiguresOf } from './figures.ts'

const spread = { median: 0.123456, min: 0.1, max: 0.2 }
const ceiling = { requestsPerSecond: 1_000.4, processorUs: 700, p50Ms: 1, p99Ms: 2, errors: 1 }
const ours = { requestsPerSecond: 500.6, processorUs: 1_234.56, p50Ms: 1, p99Ms: 2, errors: 2 }
const measured = { ceiling, ours, throughput: spread, processor: spread }
const rate = { perSecond: 10, p99Ms: 1 }
const management = [{ name: 'user-info', ours: rate, direct: rate, throughput: spread }]

test('states rates and processor time of a bulk per record', () => {
  const dataPlane = {
    limits: [{ ...measured, path: limitCheck }],
    usage: [{ ...measured, path: bulk }],
    usageAlone: [],
  }
  const [first, second] = pathFiguresOf({ dataPlane, management: [] })
  const ratio = { median: 0.1235, min: 0.1, max: 0.2 }
  expect(first).toEqual({
    ...{ name: 'bulk of 100', ceilingName: 'parse and validate', unit: 'record' },
    perSecond: { ceiling: 100_040, ours: 50_060, ratio },
    processorUs: { ceiling: 7, ours: 12.35, ratio },
    failedRequests: 3,
  })
  expect(second).toMatchObject({ unit: 'request', perSecond: { ceiling: 1_000, ours: 501 } })
})

test('states the management API after the data plane, without processor time', () => {
  expect(pathFiguresOf({ dataPlane: undefined, management })).toEqual([
    {
      ...{ name: 'management API: user-info', ceilingName: 'PostgreSQL', unit: 'request' },
      perSecond: { ceiling: 10, ours: 10, ratio: { median: 0.1235, min: 0.1, max: 0.2 } },
      failedRequests: 0,
    },
  ])
})
