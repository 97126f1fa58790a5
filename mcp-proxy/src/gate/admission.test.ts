import { setTimeout as sleep } from 'node:timers/promises'
import { readSettings } from '@tollgate/platform/config/settings'
import { expect, test, vi } from 'vitest'
import { Admissions, type AdmissionParts } from './admission.ts'
import type { LimitsAnswer } from './ask-limits.ts'
import { AllCustomerCalls } from './customer-calls.ts'
import type { GatedCall } from './gate.ts'
import { gateSettings } from './gate-settings.ts'

const freshMs = 200

const server = {
  ...{ environment: 'sandbox', providerId: 'prv_1', productRef: 'prd_1' },
  tools: new Map([['search', { access: 'every-plan', planRefs: [] }]]),
} as unknown as GatedCall['server']

const call: GatedCall = {
  ...{ server, customerRef: 'cus_1', toolName: 'search', arguments: {} },
  ...{ callId: 'call_1', idempotencyKey: undefined },
  client: { era: 'sessions', opensUrls: false, showsApps: false },
}

const answer = (withinLimits: boolean) =>
  ({
    kind: 'answered',
    response: { plan: 'pln_1', withinLimits, remaining: withinLimits ? 1_000 : 0 },
  }) as LimitsAnswer

test('a customer who keeps calling waits for ingest once, and is asked about in time', async () => {
  const questions: ((answer: LimitsAnswer) => void)[] = []
  const counter = { inc: vi.fn(), observe: vi.fn() }
  const admissions = new Admissions({
    askLimits: () => new Promise((resolve) => questions.push(resolve)),
    records: { promiseRoom: () => true, endPromise: () => undefined },
    calls: new AllCustomerCalls(),
    limits: readSettings(gateSettings, { TOLLGATE_MCP_LIMITS_FRESH_MS: String(freshMs) }),
    clock: { now: () => Date.now() },
    logger: { warn: vi.fn() },
    metrics: { admissions: counter, admissionSeconds: counter, paywalls: counter },
  } as unknown as AdmissionParts)
  const admit = async () => (await admissions.admit(call)).kind

  const first = admit()
  await vi.waitFor(() => expect(questions).toHaveLength(1))
  questions[0]!(answer(true))
  expect(await first).toBe('admitted')
  expect(await admit()).toBe('admitted')
  expect(questions).toHaveLength(1)

  await sleep(freshMs * 0.6)
  expect(await admit()).toBe('admitted')
  expect(await admit()).toBe('admitted')
  expect(questions).toHaveLength(2)

  // What the second answer denies is not used: the next call asks itself.
  questions[1]!(answer(false))
  await sleep(0)
  const denied = admissions.admit(call)
  await vi.waitFor(() => expect(questions).toHaveLength(3))
  questions[2]!({ kind: 'unknown', reason: 'away' })
  expect((await denied).kind).toBe('unavailable')
})
