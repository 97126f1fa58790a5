import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLmdbEventLog } from '@tollgate/platform/event-log/lmdb/lmdb-event-log'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { usageTopic } from '@tollgate/schemas/topics'
import { expect, it } from 'vitest'
import { InFlightLimit } from '../src/domain/in-flight-limit.ts'
import { usageEvent } from '../src/domain/usage-events.ts'
import { LogRecorder } from '../src/event-log/log-recorder.ts'
import { RecentKeys } from '../src/event-log/recent-keys.ts'
import { createIngestCounts } from '../src/metrics.ts'
import type { MeterEvent } from '@tollgate/schemas/meter-event'

it('twins', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'tollgate-r1-'))
  const topic = usageTopic('sandbox')
  const log = await openLmdbEventLog({ logFolder: join(dir, 'log'), groupsFolder: join(dir, 'groups'), role: 'writer', topics: { [topic]: 1 } })
  const hotState = await openLmdbHotState({ folder: join(dir, 'hot'), role: 'projection' })
  const recorder = new LogRecorder({ log, hotState, recentKeys: new RecentKeys(100), inFlight: new InFlightLimit({ countMax: 10, bytesMax: 1e6 }), counts: createIngestCounts(createMetrics('x')) })
  const holder = { keyId: 'k', providerId: 'prv_1', environment: 'sandbox' as const }
  const event = usageEvent({ customerRef: 'c', units: 1, outcome: 'success', actionType: 'api_call', idempotencyKey: 'k' } as never, { holder: holder as never, receivedAtMs: Date.now(), randomReference: () => 'x' }, []) as MeterEvent
  const outcomes = await Promise.all([1, 2, 3].map(() => recorder.record('sandbox', event)))
  console.log(outcomes, log.head(topic, 0))
  expect(log.head(topic, 0)).toBe(1)
  await log.close(); await hotState.close(); await rm(dir, { recursive: true })
})
