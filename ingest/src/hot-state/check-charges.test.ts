import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EntitlementDocuments } from '@tollgate/domain/entitlements/entitlement-documents'
import { createTailParts } from '@tollgate/domain/entitlements/tail-parts'
import { tailSettings } from '@tollgate/domain/entitlements/tail-settings'
import { readSettings } from '@tollgate/platform/config/settings'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { withCalls } from '@tollgate/platform/observability/traced-call'
import { windowId, type Entitlement } from '@tollgate/schemas/hot-state/documents'
import { subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { InFlightLimit } from '../domain/in-flight-limit.ts'
import { createIngestCounts } from '../metrics.ts'
import { LimitChecker } from './limit-checker.ts'

const at = {
  space: 'sandbox',
  partition: 0,
  subject: subjectKey('prv_1', 'cus_1'),
  scope: 'prd_1',
}
const startSecond = Math.floor(Date.now() / 1_000) - 3_600
const endSecond = startSecond + 86_400

let folder: string
let log: Awaited<ReturnType<typeof openFileEventLog>>
let hotState: Awaited<ReturnType<typeof openLmdbHotState>>
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-check-charges-'))
  log = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: { [usageTopic('sandbox')]: 1 },
  })
  hotState = await openLmdbHotState({ folder: join(folder, 'hot'), role: 'projection' })
})
afterEach(async () => {
  await log.close()
  await hotState.close()
  await rm(folder, { recursive: true })
})

/** Publishes a purchase with a cap of so many tokens and images. Usage counts in the window of its own. */
const publish = async (version: number, cap: number, charges = true): Promise<void> => {
  const purchaseRef = `pur_${version}`
  const micros = `${cap * 1_000_000}`
  const entitlement: Entitlement = {
    ...{ customerRef: 'cus_1', purchaseRef, planRef: `pln_${version}`, planType: 'recurring' },
    ...{ endsAtMs: null, cap: null, credit: null, firstPeriodStartSecond: startSecond },
    periods: [{ startSecond, endSecond }],
    customerRefs: ['cus_1'],
    ...(charges && {
      charges: ['tokens', 'images'].map((name) => ({ key: name, meterName: name, cap: micros })),
    }),
  }
  const window = windowId(purchaseRef, startSecond)
  const windows = [{ id: window, fromSecond: startSecond, toSecond: endSecond }]
  await hotState.putEntry(at, { version, document: JSON.stringify(entitlement), windows })
}
const use = async (units: number): Promise<void> => {
  const expectedOffset = await hotState.appliedOffset(at.space, 0)
  const increment = { subject: at.subject, scope: at.scope, second: startSecond + 1 }
  await hotState.apply({
    ...{ space: at.space, partition: 0, expectedOffset, nextOffset: expectedOffset + 1 },
    marks: [],
    increments: [{ ...increment, series: 'tokens', amount: BigInt(units) * 1_000_000n }],
  })
}
const checker = (hot: HotState) =>
  new LimitChecker({
    ...createTailParts({ log, hotState: hot }, readSettings(tailSettings, {})),
    ...{ log, hotState: hot, documents: new EntitlementDocuments(10), nowMs: Date.now },
    ...{ inFlight: new InFlightLimit({ countMax: 10, bytesMax: 0 }), waitMs: 100 },
    ...{ counts: createIngestCounts(createMetrics('test')), tailRecordsMax: 1_000 },
  })
const check = (hot: HotState) =>
  checker(hot).check(
    { providerId: 'prv_1', environment: 'sandbox' },
    { customerRef: 'cus_1', productRef: 'prd_1', includeCheckoutSession: false },
  )

it('reads the counters of all meters of a plan at once', async () => {
  await publish(1, 10)
  await use(4)
  const reads: string[] = []
  const counted = withCalls<HotState>(hotState, {
    readEntry: (entry, series) => {
      reads.push(series)
      return hotState.readEntry(entry, series)
    },
    readEntrySeries: (entry, series) => {
      reads.push(series.join('+'))
      return hotState.readEntrySeries(entry, series)
    },
  })
  expect(await check(counted)).toMatchObject({ response: { remaining: 6, meterName: 'tokens' } })
  expect(reads).toEqual(['requests', 'tokens+images'])
})

it('decides by the purchase that was published between its two readings', async () => {
  await publish(1, 10)
  await use(10)
  let isPublished = false
  const changing = withCalls<HotState>(hotState, {
    readEntrySeries: async (entry, series) => {
      if (!isPublished) {
        isPublished = true
        await publish(2, 100)
        await use(30)
      }
      return hotState.readEntrySeries(entry, series)
    },
  })
  // The windows of the first purchase, which has used all of its units, are gone.
  expect(await check(changing)).toMatchObject({
    response: { withinLimits: true, plan: 'pln_2', remaining: 70 },
  })
})

it('leaves the decision to the control plane if the new plan has no charges', async () => {
  await publish(1, 10)
  const changing = withCalls<HotState>(hotState, {
    readEntrySeries: async (entry, series) => {
      await publish(2, 10, false)
      return hotState.readEntrySeries(entry, series)
    },
  })
  expect(await check(changing)).toEqual({ kind: 'unknown' })
})

it('refuses to decide while the purchase changes with every reading', async () => {
  let version = 1
  await publish(version, 10)
  const changing = withCalls<HotState>(hotState, {
    readEntrySeries: async (entry, series) => {
      await publish((version += 1), 10)
      return hotState.readEntrySeries(entry, series)
    },
  })
  expect(await check(changing)).toEqual({ kind: 'unanswerable', reason: 'behind' })
})
