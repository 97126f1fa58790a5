import { expect, test } from 'vitest'
import { summarizeRounds } from './compare-servers.ts'

const result = (requestsPerSecond: number, processorUs: number, errors = 0) => ({
  ...{ requestsPerSecond, processorUs, errors },
  ...{ p50Ms: 1, p99Ms: 2 },
})

test('computes ratios within each round, so that a slow round of the machine changes none of them', () => {
  const summary = summarizeRounds([
    { ceiling: result(1_000, 10), ours: result(500, 20) },
    { ceiling: result(100, 100), ours: result(40, 300) },
    { ceiling: result(2_000, 5), ours: result(1_200, 20) },
  ])
  expect(summary.throughput).toEqual({ median: 0.5, min: 0.4, max: 0.6 })
  expect(summary.processor).toEqual({ median: 3, min: 2, max: 4 })
  expect(summary.ceiling).toMatchObject({ requestsPerSecond: 1_000, processorUs: 10 })
  expect(summary.ours).toMatchObject({ requestsPerSecond: 500, processorUs: 20 })
})

test('counts the failed requests of all rounds', () => {
  const summary = summarizeRounds([
    { ceiling: result(1, 1, 1), ours: result(1, 1, 2) },
    { ceiling: result(1, 1, 0), ours: result(1, 1, 3) },
  ])
  expect([summary.ceiling.errors, summary.ours.errors]).toEqual([1, 5])
})
