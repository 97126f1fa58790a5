import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EntitlementDocuments } from '@tollgate/domain/entitlements/entitlement-documents'
import { createTailParts } from '@tollgate/domain/entitlements/tail-parts'
import { tailSettings } from '@tollgate/domain/entitlements/tail-settings'
import { readSettings } from '@tollgate/platform/config/settings'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { expect, it } from 'vitest'
import { InFlightLimit } from '../domain/in-flight-limit.ts'
import { createIngestCounts } from '../metrics.ts'
import { LimitChecker } from './limit-checker.ts'

it('leaves no check in flight when the evaluation of an entitlement throws', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-limit-checker-'))
  const log = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: { [usageTopic('sandbox')]: 1 },
  })
  const hotState = await openLmdbHotState({ folder: join(folder, 'hot'), role: 'projection' })
  const inFlight = new InFlightLimit({ countMax: 1, bytesMax: 0 })
  const checker = new LimitChecker({
    log,
    hotState,
    ...createTailParts({ log, hotState }, readSettings(tailSettings, {})),
    inFlight,
    documents: new EntitlementDocuments(10),
    counts: createIngestCounts(createMetrics('test')),
    nowMs: Date.now,
    waitMs: 1,
    tailRecordsMax: 1,
  })
  const at = {
    space: 'sandbox',
    partition: 0,
    subject: subjectKey('prv_1', 'user-1'),
    scope: 'prd_1',
  }
  await hotState.putEntry(at, { version: 1, document: '{"customerRefs":[]}', windows: [] })
  const holder = { providerId: 'prv_1', environment: 'sandbox' } as const
  const request = {
    customerRef: 'user-1',
    productRef: 'prd_1',
    includeCheckoutSession: false,
  }
  for (let count = 0; count < 3; count += 1) {
    const decision = checker.check(holder, request)
    expect(decision).toEqual({ kind: 'unanswerable', reason: 'unreadable' })
    expect(inFlight.count).toBe(0)
  }
  await log.close()
  await hotState.close()
  await rm(folder, { recursive: true })
})
