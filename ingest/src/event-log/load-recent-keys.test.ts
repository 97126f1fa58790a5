import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventLogUnavailableError, type EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import { createLogger } from '@tollgate/platform/observability/logger'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { damageSegment, sealedSegments } from '@tollgate/platform/testing/damage-segment'
import { environments } from '@tollgate/schemas/environment'
import { currentSchemaId, type MeterEvent, withoutCounts } from '@tollgate/schemas/meter-event'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createIngestCounts } from '../metrics.ts'
import { EventEncoder } from './event-encoder.ts'
import { loadRecentKeys } from './load-recent-keys.ts'
import { RecentKeys } from './recent-keys.ts'

const topic = usageTopic('sandbox')
const total = 200

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-recent-keys-'))
})
afterEach(() => rm(folder, { recursive: true }))

function openLog(segmentBytesMax: number): Promise<EventLog> {
  return openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: Object.fromEntries(environments.map((each) => [usageTopic(each), 1])),
    segmentBytesMax,
  })
}

function partsWith(log: EventLog) {
  return {
    log,
    recentKeys: new RecentKeys(100_000),
    counts: createIngestCounts(createMetrics('test')),
    logger: createLogger('test', 'silent'),
    hotState: { appliedOffset: async () => 0 },
    noteLease: undefined,
  }
}

it('starts on a log with a damaged segment, loads the keys outside of it and counts the range that it could not read', async () => {
  const log = await openLog(4_096)
  const encoder = new EventEncoder(currentSchemaId)
  for (let number = 0; number < total; number += 1) {
    await log.append(topic, 0, encoder.encode(event(number)), number)
  }
  damageSegment(join(folder, 'log'), sealedSegments(join(folder, 'log'))[1]!)

  const parts = partsWith(log)
  await loadRecentKeys(parts, 10_000)

  const { recentKeys, counts } = parts
  expect(counts.unreadKeyRanges).toBe(1)
  expect(recentKeys.has('sandbox', 0, idOf(0))).toBe(true)
  expect(recentKeys.has('sandbox', 0, idOf(total - 1))).toBe(true)
  expect(recentKeys.size).toBeLessThan(total)
  await log.close()
})

it('knows a key only when its record may be acknowledged, which another process may not have done', async () => {
  const log = await openLog(2 ** 26)
  const encoder = new EventEncoder(currentSchemaId)
  for (let number = 0; number < 3; number += 1) {
    await log.append(topic, 0, encoder.encode(event(number)), number)
  }
  const parts = partsWith(log)
  const acknowledged: unknown[] = []
  const acknowledge = async (...head: unknown[]): Promise<void> => {
    acknowledged.push([...head, parts.recentKeys.size])
  }
  await loadRecentKeys({ ...parts, noteLease: { acknowledge } }, 10_000)
  expect(acknowledged).toEqual([[topic, 0, 3, 0]])
  expect(parts.recentKeys.size).toBe(3)

  const without = partsWith(log)
  const refuse = async (): Promise<void> => {
    throw new EventLogUnavailableError('limit checks might miss them')
  }
  await loadRecentKeys({ ...without, noteLease: { acknowledge: refuse } }, 10_000)
  expect(without.recentKeys.size).toBe(0)
  expect(without.counts.unreadKeyRanges).toBe(1)
  await log.close()
})

it('lets other work run, however many keys it loads', async () => {
  const log = await openLog(2 ** 26)
  const encoder = new EventEncoder(currentSchemaId)
  const many = 50_000
  // The encoder uses its memory again.
  const records = Array.from({ length: many }, (_, at) =>
    Uint8Array.from(encoder.encode(event(at))),
  )
  await Promise.all(records.map((record, number) => log.append(topic, 0, record, number)))
  await loadRecentKeys(partsWith(log), many)
  let turns = 0
  let timer = setImmediate(function count() {
    turns += 1
    timer = setImmediate(count)
  })
  const parts = partsWith(log)
  // The log has read these records before, so it returns them without a turn of its own.
  await loadRecentKeys(parts, many)
  clearImmediate(timer)
  expect(parts.recentKeys.size).toBe(many)
  expect(turns).toBeGreaterThanOrEqual(5)
  await log.close()
})

function idOf(number: number): string {
  return `usage_${`${number}`.padStart(26, '0')}`
}

function event(number: number): MeterEvent {
  return {
    id: idOf(number),
    providerId: 'prov_1',
    customerRef: 'cus_1',
    meterName: 'requests',
    value: 1_000_000,
    timestamp: 1_772_366_400_000,
    receivedAt: 1_772_366_400_500,
    productRef: null,
    purchaseRef: null,
    outcome: 'success',
    source: 'meter-events',
    idempotencyKey: `key-${number}`,
    properties: '{}',
    reservationId: null,
    traceParent: null,
    debit: null,
    ...withoutCounts,
  }
}
