import { expect, test } from 'vitest'
import type { CallRecord } from '../records/call-record.ts'
import type { ServiceCalls } from '../services/service-calls.ts'
import { KeyUses } from './key-uses.ts'
import { createSendRecords } from './send-records.ts'

const callOf = (callId: string) =>
  ({ callId, idempotencyKey: 'key', acceptedAtMs: 1, toolName: 'search' }) as CallRecord

/** Returns how many calls are billed if the processes use the key in this order. Ingest accepts each idempotency key once. */
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
])(
  'with %i free repeats, %i uses at processes %j cost %i units',
  (repeatsMax, _uses, order, billed) => {
    const processes = Array.from({ length: 4 }, () => new KeyUses(repeatsMax))
    expect(billedOf(processes, order)).toBe(billed)
  },
)

test.each([
  [503, 'unavailable', true],
  [503, 'overloaded', false],
  [500, 'internal_error', true],
])(
  'records that ingest answers with %i %s may be in the log: %s',
  async (status, code, expected) => {
    const reply = { kind: 'replied' as const, status, body: { code, message: code } }
    const ingest = { post: () => Promise.resolve(reply) } as unknown as ServiceCalls
    const sent = await createSendRecords(ingest)([callOf('call-1')])
    expect(sent).toMatchObject({ kind: 'failed', mayBeRecorded: expected })
  },
)
