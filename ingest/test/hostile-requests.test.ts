import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NodeFront } from '../src/http/node-front.ts'
import { HostileRequests, sendHostile, type HostileOutcome } from './hostile-requests.ts'
import { Installation } from './installation.ts'

const requestsPerSeed = 500
const inParallel = 25
/** Milliseconds to wait for a response. Many of the requests never get one, and a busy machine is late with the others. */
const answerTimeoutMs = 400

describe.each([
  ['uWebSockets.js', undefined],
  ['node:http', (options: ConstructorParameters<typeof NodeFront>[0]) => new NodeFront(options)],
])('hostile requests at %s', (_, front) => {
  let installation: Installation
  let key: string
  beforeAll(async () => {
    installation = await Installation.start(front === undefined ? {} : { front })
    key = await installation.createKey()
    await installation.publishMeters({})
  })
  afterAll(() => installation.remove())

  it.each([1, 2])(
    'get no 5xx except 503, and only acknowledged records are stored (seed %i)',
    async (seed) => {
      const requests = new HostileRequests(seed, key)
      const outcomes = new Map<HostileOutcome, number>()
      for (let sent = 0; sent < requestsPerSeed; sent += inParallel) {
        const batch = Array.from({ length: inParallel }, () => requests.next())
        const results = await Promise.all(
          batch.map((request) => sendHostile(installation.port, request, answerTimeoutMs)),
        )
        for (const result of results) outcomes.set(result, (outcomes.get(result) ?? 0) + 1)
      }
      // The native parser answers with 505 if it does not recognize a request as HTTP/1.1.
      const failures = [...outcomes.keys()].filter(
        (outcome) =>
          outcome !== 'no answer' && outcome >= 500 && outcome !== 503 && outcome !== 505,
      )
      expect({ failures, outcomes }).toEqual({ failures: [], outcomes })
      expect(outcomes.get(400)).toBeGreaterThan(requestsPerSeed / 5)
      expect(outcomes.get(200)).toBeGreaterThan(requestsPerSeed / 50)
      const events = await installation.events()
      expect(new Set(events.map((event) => typeof event.customerRef))).toEqual(new Set(['string']))
      const reply = await installation.post('/v1/sdk/usages', key, { customerRef: 'alive' })
      expect(reply.status).toBe(200)
    },
  )
})
