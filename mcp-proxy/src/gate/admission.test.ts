import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { readSettings } from '@tollgate/platform/config/settings'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Admissions, type AdmissionParts } from './admission.ts'
import type { AskLimits, LimitsAnswer } from './ask-limits.ts'
import { AllCustomerCalls } from './customer-calls.ts'
import type { GatedCall } from './gate.ts'
import { gateSettings } from './gate-settings.ts'
import { releaseUnanswered } from './release-hold.ts'

const freshMs = 200

const server = {
  ...{ environment: 'sandbox', providerId: 'prv_1', productRef: 'prd_1' },
  tools: new Map([['search', { access: 'every-plan', planRefs: [] }]]),
} as unknown as GatedCall['server']

const call: GatedCall = {
  ...{ server, customerRef: 'cus_1', toolName: 'search' },
  ...{ callId: 'call_1', clientKey: undefined },
  client: { era: 'sessions', opensUrls: false, showsApps: false },
}

const answer = (withinLimits: boolean) =>
  ({
    kind: 'answered',
    response: { plan: 'pln_1', withinLimits, remaining: withinLimits ? 1_000 : 0 },
  }) as LimitsAnswer

const counter = { inc: vi.fn(), observe: vi.fn() }

const partsWith = (askLimits: AskLimits, settings: Record<string, string> = {}) =>
  ({
    askLimits,
    records: { promiseRoom: () => true, endPromise: vi.fn(), append: vi.fn() },
    links: { urlOf: () => Promise.resolve('') },
    release: () => Promise.resolve(),
    releaseUnansweredHold: () => Promise.resolve(),
    calls: new AllCustomerCalls(),
    limits: readSettings(gateSettings, settings),
    clock: { now: () => Date.now() },
    logger: { warn: vi.fn(), error: vi.fn() },
    metrics: { admissions: counter, admissionSeconds: counter, paywalls: counter },
  }) as unknown as AdmissionParts

test('admits calls without a hold while others run, and never more than the cap', async () => {
  const cap = 120
  const held = new Set<string>()
  const askLimits: AskLimits = async ({ callId }, holdSeconds) => {
    await sleep(1)
    if (holdSeconds !== undefined && held.size < cap) held.add(callId)
    const withinLimits = held.has(callId) || held.size < cap
    const reservation = held.has(callId) ? { reservation: { id: callId } } : {}
    const response = { plan: 'pln_1', withinLimits, remaining: cap - held.size, ...reservation }
    return { kind: 'answered', response } as LimitsAnswer
  }
  const parts = partsWith(askLimits)
  const release = (_holder: unknown, id: string) => Promise.resolve(held.delete(id))
  const admissions = new Admissions({ ...parts, release })
  let calls = 0
  const admit = () => admissions.admit({ ...call, callId: `call_${calls++}` })
  const admitAtOnce = (count: number) => Promise.all(Array.from({ length: count }, admit))

  const first = await admitAtOnce(60)
  expect(new Set(first.map(({ kind }) => kind))).toEqual(new Set(['admitted']))
  expect(held.size).toBeLessThan(60)
  const more = await admitAtOnce(cap - 60)
  const admitted = [...first, ...more].filter(({ kind }) => kind === 'admitted')
  expect(admitted).toHaveLength(cap)

  // A running call may still fail and free its unit, so the next call waits until the running calls have ended.
  const waiting = vi.fn()
  const next = admit().finally(waiting)
  await sleep(100)
  expect(waiting).not.toHaveBeenCalled()
  for (const admission of admitted) {
    if (admission.kind === 'admitted') admission.settle({ outcome: 'fail', durationMs: 1 })
  }
  expect((await next).kind).toBe('admitted')
  expect(held.size).toBe(1)
})

test('releases the hold of a call whose request for it was granted but not answered', async () => {
  const held = new Set<string>()
  let isAnswerLost = true
  const askLimits: AskLimits = ({ callId }, holdSeconds) => {
    // Like ingest, only requests for a hold see the holds of other calls.
    const withinLimits = holdSeconds === undefined || held.has(callId) || held.size === 0
    const isHeld = holdSeconds !== undefined && withinLimits
    if (isHeld) held.add(callId)
    if (isHeld && isAnswerLost)
      return Promise.resolve({ kind: 'unknown', reason: 'timeout', isAway: true })
    const response = { plan: 'pln_1', withinLimits, remaining: withinLimits ? 1 : 0 }
    const reservation = isHeld ? { reservation: { id: callId } } : {}
    return Promise.resolve({
      kind: 'answered',
      response: { ...response, ...reservation },
    } as LimitsAnswer)
  }
  const release = (_holder: unknown, id: string) => Promise.resolve(held.delete(id))
  const parts = { ...partsWith(askLimits), release }
  const admissions = new Admissions({
    ...parts,
    releaseUnansweredHold: (holding) => releaseUnanswered(parts, holding, 3_000),
  })
  expect((await admissions.admit(call)).kind).toBe('unavailable')
  expect(held.size).toBe(1)

  isAnswerLost = false
  const next = await admissions.admit({ ...call, callId: 'call_2' })
  expect(next.kind).toBe('admitted')
  expect([...held]).toEqual(['call_2'])
})

test('lets a customer who keeps calling wait for ingest once, and refreshes the limit in time', async () => {
  const questions: ((answer: LimitsAnswer) => void)[] = []
  const admissions = new Admissions(
    partsWith(() => new Promise((resolve) => questions.push(resolve)), {
      TOLLGATE_MCP_LIMITS_FRESH_MS: String(freshMs),
    }),
  )
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

  // A denial that was read ahead of time is not used: the next call queries ingest itself.
  questions[1]!(answer(false))
  await sleep(0)
  const denied = admissions.admit(call)
  await vi.waitFor(() => expect(questions).toHaveLength(3))
  questions[2]!({ kind: 'unknown', reason: 'away' })
  expect((await denied).kind).toBe('unavailable')
})

describe('while ingest leaves queries unanswered', () => {
  const patienceMs = 1_000
  const staleMs = 4_000
  const questions: ((answer: LimitsAnswer) => void)[] = []
  const askLimits: AskLimits = () => new Promise((resolve) => questions.push(resolve))
  const settings = {
    TOLLGATE_MCP_LIMITS_FRESH_MS: String(freshMs),
    TOLLGATE_MCP_LIMITS_STALE_MS: String(staleMs),
    TOLLGATE_MCP_LIMITS_PATIENCE_MS: String(patienceMs),
  }

  // Ages of answers are compared with the millisecond, and timers may fire early. So the test moves the clock that measures them.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  /** Lets `durationMs` pass, after all that was answered so far has been taken in. */
  const pass = async (durationMs: number) => {
    await setImmediate()
    vi.advanceTimersByTime(durationMs)
  }

  /** Returns a function that admits calls of a customer, after ingest has answered a first query for each of the customers. */
  const openFor = async (...customerRefs: string[]) => {
    questions.length = 0
    const admissions = new Admissions(partsWith(askLimits, settings))
    const admit = async (customerRef: string) =>
      (await admissions.admit({ ...call, customerRef })).kind
    for (const customerRef of customerRefs) {
      const first = admit(customerRef)
      await expect.poll(() => questions.length).toBe(1)
      questions.shift()!(answer(true))
      expect(await first).toBe('admitted')
    }
    return admit
  }

  /** Returns how many milliseconds the call waits, by the clock of the system. */
  const waitOf = async (admission: Promise<string>) => {
    const startedMs = Date.now()
    expect(await admission).toBe('admitted')
    return Date.now() - startedMs
  }

  test('admits a customer who keeps calling by the last answer, up to the stale limit', async () => {
    const admit = await openFor('cus_1')
    await pass(freshMs / 2)
    expect(await admit('cus_1')).toBe('admitted')
    expect(questions).toHaveLength(1)
    // The second query stays unanswered for longer than the limits are fresh.
    await pass(freshMs)
    expect(await admit('cus_1')).toBe('admitted')
    questions.shift()!({ kind: 'unknown', reason: 'ingest is away', isAway: true })
    await pass(freshMs / 2)
    expect(await admit('cus_1')).toBe('admitted')
    expect(questions).toHaveLength(1)
    await pass(staleMs - 2 * freshMs)
    expect(await admit('cus_1')).toBe('admitted')
    expect(questions).toHaveLength(1)
    await pass(1)
    const late = vi.fn()
    const waiting = admit('cus_1').finally(late)
    await expect.poll(() => questions.length).toBe(2)
    expect(late).not.toHaveBeenCalled()
    for (const tell of questions) tell(answer(false))
    expect(await waiting).toBe('paywalled')
  })

  test('admits a customer who calls after a pause, and lets no other customer wait as long', async () => {
    const admit = await openFor('cus_1', 'cus_2')
    await pass(freshMs)
    expect(await waitOf(admit('cus_1'))).toBeGreaterThan(patienceMs * 0.9)
    await pass(patienceMs + 1)
    expect(await waitOf(admit('cus_2'))).toBeLessThan(patienceMs * 0.9)
    for (const tell of questions.splice(0))
      tell({ kind: 'unknown', reason: 'ingest is away', isAway: true })
    await pass(freshMs)
    expect(await waitOf(admit('cus_1'))).toBeLessThan(patienceMs * 0.9)
    // Ingest answers again, so the next call after a pause waits for its answer.
    await expect.poll(() => questions.length).toBe(1)
    questions.shift()!(answer(true))
    await pass(freshMs)
    const denied = admit('cus_2')
    await expect.poll(() => questions.length).toBe(1)
    questions.shift()!(answer(false))
    await expect.poll(() => questions.length).toBe(1)
    questions.shift()!(answer(false))
    expect(await denied).toBe('paywalled')
  })
})
