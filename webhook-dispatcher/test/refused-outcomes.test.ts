import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { createLogger } from '@tollgate/platform/observability/logger'
import { Recorder } from '../src/deliver/recorder.ts'
import { claimDeliveries } from '../src/postgres/claim-deliveries.ts'
import { recordOutcomes, type Outcome } from '../src/postgres/record-outcomes.ts'
import { startDispatcherStack, until, type DispatcherStack } from './dispatcher-stack.ts'

/* Tests outcomes that a real PostgreSQL refuses, and a connection that breaks while outcomes are written. */

let stack: DispatcherStack
let owner: Database
let refused: string[]

beforeAll(async () => {
  stack = await startDispatcherStack()
  owner = createPostgresDatabase({ url: stack.databaseUrl, isOwner: true, poolMax: 4 })
})

beforeEach(async () => {
  refused = []
  await stack.insertEndpoint({ providerId: 'prov', reference: 'we_A', url: 'https://example.com' })
})

afterEach(() => stack.reset())

afterAll(async () => {
  await owner.close()
  await stack.close()
})

function openRecorder(): Recorder {
  return new Recorder({
    record: (outcomes, health) =>
      recordOutcomes(stack.database.in('sandbox'), outcomes, health, new Date()),
    onRecorded: () => undefined,
    onRefused: ({ deliveryRef }) => void refused.push(deliveryRef),
    logger: createLogger('webhook-dispatcher', 'silent'),
    retryPauseMs: 10,
  })
}

/** Claims `count` deliveries, each of a different customer. */
async function claim(count: number): Promise<string[]> {
  await stack.emit(
    'prov',
    Array.from({ length: count }, (_, index) => `cus_${index}`),
  )
  const { deliveries } = await claimDeliveries(owner.in('sandbox'), {
    turn: 'first',
    now: new Date(),
    leasedUntil: new Date(Date.now() + 60_000),
    deliveriesMax: count,
    perEndpointMax: count,
    room: {},
    after: '',
  })
  return deliveries.map(({ reference }) => reference)
}

const succeeded = (deliveryRef: string, answer: string): Outcome => ({
  providerId: 'prov',
  deliveryRef,
  claim: 1,
  state: 'succeeded',
  dueAt: null,
  endedAt: new Date(),
  attempts: [
    {
      number: 1,
      isReversed: false,
      startedAt: new Date(),
      durationMs: 7,
      connectMs: 1,
      answerMs: 5,
      status: 200,
      errorClass: null,
      answer,
      address: '127.0.0.1',
    },
  ],
})

const readAttempts = () => owner.in('sandbox')`
  select delivery_ref, state, status, error_class, answer
  from webhook_attempts join webhook_deliveries on reference = delivery_ref order by sequence`

test.each([0, 3, 6])(
  'stores the other outcomes of a batch when the database refuses number %d',
  async (bad) => {
    const references = await claim(7)
    const recorder = openRecorder()
    const isBad = (index: number): boolean => index === bad
    await Promise.all(
      references.map((reference, index) =>
        // PostgreSQL cannot store NUL in text.
        recorder.add(succeeded(reference, isBad(index) ? 'a\0b' : 'fine'), []),
      ),
    )
    expect(refused).toEqual([references[bad]])
    expect(await readAttempts()).toEqual(
      references.map((delivery_ref, index) => ({
        delivery_ref,
        state: 'succeeded',
        status: isBad(index) ? null : 200,
        error_class: isBad(index) ? 'unrecorded' : null,
        answer: isBad(index) ? null : 'fine',
      })),
    )
  },
)

test('writes all outcomes after a connection broke and was replaced', async () => {
  const references = await claim(3)
  const recorder = openRecorder()
  let recording: Promise<unknown> | undefined
  await owner.in('sandbox').begin(async (sql) => {
    await sql`select from webhook_deliveries for update`
    recording = Promise.all(
      references.map((reference) => recorder.add(succeeded(reference, 'fine'), [])),
    )
    await until(async () => {
      const ended = await owner.in('sandbox')`
        select pg_terminate_backend(pid) from pg_locks where not granted`
      return ended.length > 0
    })
  })
  await recording
  expect(refused).toEqual([])
  expect(await readAttempts()).toEqual(
    references.map((delivery_ref) => ({
      delivery_ref,
      state: 'succeeded',
      status: 200,
      error_class: null,
      answer: 'fine',
    })),
  )
})
