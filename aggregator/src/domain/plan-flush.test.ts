import { expect, it } from 'vitest'
import { planFlush } from './plan-flush.ts'

it.each([
  ['one short of a batch, one ms early', 99, 499, { kind: 'wait', waitMs: 1 }],
  ['a full batch at once', 100, 0, { kind: 'flush' }],
  ['the delay is over', 1, 500, { kind: 'flush' }],
  ['just seen', 1, 0, { kind: 'wait', waitMs: 500 }],
])('%s', (_, waitingTotal, waitedMs, expected) => {
  expect(planFlush(waitingTotal, waitedMs, { rowsMax: 100, delayMs: 500 })).toEqual(expected)
})
