import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import { createLogger } from '@tollgate/platform/observability/logger'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { damageSegment, sealedSegments } from '@tollgate/platform/testing/damage-segment'
import { environments } from '@tollgate/schemas/environment'
import { currentSchemaId, type MeterEvent, withoutCounts } from '@tollgate/schemas/meter-event'
import { usageTopic } from '@tollgate/schemas/topics'
import { expect, it } from 'vitest'
import { createIngestCounts } from '../metrics.ts'
import { EventEncoder } from './event-encoder.ts'
import { loadRecentKeys } from './load-recent-keys.ts'
import { RecentKeys } from './recent-keys.ts'

const topic = usageTopic('sandbox')
const total = 200

it('starts on a log with a damaged segment, loads the keys outside of it and counts the range that it could not read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-recent-keys-'))
  const log = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: Object.fromEntries(environments.map((each) => [usageTopic(each), 1])),
    segmentBytesMax: 4_096,
  })
  const encoder = new EventEncoder(currentSchemaId)
  for (let number = 0; number < total; number += 1) {
    await log.append(topic, 0, encoder.encode(event(number)), number)
  }
  damageSegment(join(folder, 'log'), sealedSegments(join(folder, 'log'))[1]!)

  const recentKeys = new RecentKeys(10_000)
  const counts = createIngestCounts(createMetrics('test'))
  const logger = createLogger('test', 'silent')
  const hotState = { appliedOffset: async () => 0 }
  await loadRecentKeys({ log, hotState, recentKeys, counts, logger }, 10_000)

  expect(counts.unreadKeyRanges).toBe(1)
  expect(recentKeys.has('sandbox', 0, idOf(0))).toBe(true)
  expect(recentKeys.has('sandbox', 0, idOf(total - 1))).toBe(true)
  expect(recentKeys.size).toBeLessThan(total)
  await log.close()
  await rm(folder, { recursive: true })
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
