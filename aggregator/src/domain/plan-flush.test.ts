import { expect, it } from 'vitest'
import { planFlush } from './plan-flush.ts'

it.each([
  ['waits for one more row or for the last millisecond', 99, 499, { kind: 'wait', waitMs: 1 }],
  ['flushes a full batch immediately', 100, 0, { kind: 'flush' }],
  ['flushes when the delay is over', 1, 500, { kind: 'flush' }],
  ['waits the full delay for the first row', 1, 0, { kind: 'wait', waitMs: 500 }],
])('%s', (_, waitingTotal, waitedMs, expected) => {
  expect(planFlush(waitingTotal, waitedMs, { rowsMax: 100, delayMs: 500 })).toEqual(expected)
})
