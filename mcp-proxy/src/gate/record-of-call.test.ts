import { expect, test } from 'vitest'
import type { GatedCall } from './gate.ts'
import { endOf, recordOf } from './record-of-call.ts'

const call: GatedCall = {
  server: { environment: 'sandbox', providerId: 'prv_1', productRef: 'prd_1' } as never,
  ...{ customerRef: 'cus_1', toolName: 'search' },
  ...{ callId: 'call_1', clientKey: { name: 'mine', sentSha256: 'a' } },
  client: { era: 'sessions', opensUrls: false, showsApps: false },
}

function keyOf(changes: Partial<GatedCall> = {}, outcome: 'success' | 'fail' = 'success') {
  const end = { outcome, durationMs: 1 }
  return recordOf({ ...call, ...changes }, 1, end, undefined, 'honour').idempotencyKey
}

test("uses the client's key only for the same call with the same outcome", () => {
  expect(keyOf({ callId: 'call_2' })).toBe(keyOf())
  const others = [
    keyOf({ clientKey: { name: 'mine', sentSha256: 'b' } }),
    keyOf({ toolName: 'fetch' }),
    keyOf({ customerRef: 'cus_2' }),
    keyOf({ server: { ...call.server, productRef: 'prd_2' } }),
    keyOf({ clientKey: { name: 'yours', sentSha256: 'a' } }),
    // With the same key, the retry of a failed call would be free.
    keyOf({}, 'fail'),
  ]
  expect(new Set([keyOf(), ...others]).size).toBe(others.length + 1)
})

test('gives a call its own key if the client sent none, or if client keys are ignored', () => {
  expect(keyOf({ clientKey: undefined })).toBe('call_1')
  expect(keyOf({ clientKey: undefined }, 'fail')).toBe('call_1-fail')
  const end = { outcome: 'success', durationMs: 1 } as const
  expect(recordOf(call, 1, end, undefined, 'ignore').idempotencyKey).toBe('call_1')
})

test('shortens a tool name of any length to fit into the record', () => {
  const end = { outcome: 'fail', durationMs: 1 } as const
  const toolName = 'x'.repeat(1_000_000)
  const record = recordOf({ ...call, toolName }, 1, end, undefined, 'honour')
  expect(record.toolName).toBe('x'.repeat(128))
})

const unanswered = {}
const begun = { isAccepted: true }
const answered = { isAnswered: true }

test.each([
  ['never', unanswered, 'fail'],
  ['never', begun, 'fail'],
  ['never', answered, 'fail'],
  ['answered', unanswered, 'fail'],
  ['answered', begun, 'fail'],
  ['answered', answered, 'success'],
  ['accepted', unanswered, 'fail'],
  ['accepted', begun, 'success'],
  ['accepted', answered, 'success'],
  ['always', unanswered, 'success'],
] as const)('records a cancelled call under the policy %s (%j) as %s', (policy, stage, outcome) => {
  const end = { outcome: 'fail', durationMs: 5, isCancelled: true, ...stage } as const
  expect(endOf(end, policy)).toEqual({
    outcome,
    durationMs: 5,
    reason: 'cancelled by the client',
  })
  const whole = { outcome: 'success', durationMs: 5 } as const
  expect(endOf(whole, policy)).toEqual(whole)
})
