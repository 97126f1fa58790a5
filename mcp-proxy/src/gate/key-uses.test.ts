import { expect, test } from 'vitest'
import type { CallRecord } from '../records/call-record.ts'
import { KeyUses } from './key-uses.ts'

const callOf = (callId: string) => ({ callId, idempotencyKey: 'key' }) as CallRecord

/** Has processes use the key in this order, with an ingest that takes each idempotency key once, and returns what is billed. */
function billedOf(processes: readonly KeyUses[], order: readonly number[]): number {
  const taken = new Map<string, CallRecord>()
  order.forEach((process, number) => {
    const uses = processes[process]!
    let record = uses.use(callOf(`call-${number}`))
    while (taken.has(record.idempotencyKey)) record = uses.useNext(record)
    taken.set(record.idempotencyKey, record)
  })
  return [...taken.values()].filter(({ units = 1 }) => units === 1).length
}

test.each([
  [3, 7, [0, 0, 0, 0, 0, 0, 0], 4],
  [3, 7, [0, 1, 2, 0, 1, 2, 0], 4],
  [3, 7, [0, 0, 0, 0, 1, 2, 1], 4],
  [3, 4, [0, 1, 2, 3], 1],
  [0, 3, [0, 1, 2], 3],
])('with %i repeats free, %i uses at processes %j cost %i', (repeatsMax, _uses, order, billed) => {
  const processes = Array.from({ length: 4 }, () => new KeyUses(repeatsMax))
  expect(billedOf(processes, order)).toBe(billed)
})
