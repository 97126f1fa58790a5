import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventLogUnavailableError, type EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { currentSchemaId, type MeterEvent, withoutCounts } from '@tollgate/schemas/meter-event'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { InFlightLimit } from '../domain/in-flight-limit.ts'
import type { PlacedEvent } from '../domain/placed-event.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import { createIngestCounts } from '../metrics.ts'
import { LogRecorder } from './log-recorder.ts'
import { RecentKeys } from './recent-keys.ts'

const topic = usageTopic('sandbox')

let folder: string
let log: EventLog
let hotState: HotState
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-recorder-'))
  log = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: { [topic]: 1 },
  })
  hotState = await openLmdbHotState({ folder: join(folder, 'hot'), role: 'projection' })
})
afterEach(async () => {
  await log.close()
  await hotState.close()
  await rm(folder, { recursive: true })
})

function recorderOn(appendTo: EventLog): LogRecorder {
  return new LogRecorder({
    log: appendTo,
    schemaId: currentSchemaId,
    hotState,
    recentKeys: new RecentKeys(100),
    inFlight: new InFlightLimit({ countMax: 100, bytesMax: 1_000_000 }),
    counts: createIngestCounts(createMetrics('test')),
  })
}

function keyedEvent(key: string): PlacedEvent {
  const event: MeterEvent = {
    id: `usage_${key}`,
    providerId: 'prv_1',
    customerRef: 'user-1',
    meterName: 'requests',
    value: 1_000_000,
    timestamp: Date.now(),
    receivedAt: Date.now(),
    productRef: null,
    purchaseRef: null,
    outcome: 'success',
    source: 'usages',
    idempotencyKey: key,
    properties: '{}',
    reservationId: null,
    traceParent: null,
    debit: null,
    ...withoutCounts,
  }
  return { event, subject: 'user-1', partition: 0 }
}

it('appends one of two events with the same key that arrive in the same turn, alone and in bulk', async () => {
  const recorder = recorderOn(log)
  const twins = await Promise.all([
    recorder.record('sandbox', keyedEvent('a')),
    recorder.record('sandbox', keyedEvent('a')),
    recorder.recordAll('sandbox', [keyedEvent('b'), keyedEvent('a')]),
    recorder.recordAll('sandbox', [keyedEvent('b'), keyedEvent('a')]),
  ])
  expect(twins).toEqual([
    'recorded',
    'duplicate',
    ['recorded', 'duplicate'],
    ['duplicate', 'duplicate'],
  ])
  expect(await log.head(topic, 0)).toBe(2)
})

it('fails all requests with the same key when the append fails, and accepts the key again afterwards', async () => {
  let isFull = true
  const fillable = new Proxy(log, {
    get: (target, name: keyof EventLog) => {
      if (name !== 'appendAll' || !isFull) return target[name].bind(target)
      return () => Promise.reject(new EventLogUnavailableError('full'))
    },
  })
  const recorder = recorderOn(fillable)
  const record = () => recorder.record('sandbox', keyedEvent('a'))
  const failed = await Promise.allSettled([record(), record()])
  expect(failed.map((each) => each.status === 'rejected' && (each.reason as unknown))).toEqual([
    expect.any(UnavailableError),
    expect.any(UnavailableError),
  ])
  isFull = false
  expect(await Promise.all([record(), record()])).toEqual(['recorded', 'duplicate'])
  expect(await log.head(topic, 0)).toBe(1)
})
