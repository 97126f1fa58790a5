import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@tollgate/platform/testing/free-ports'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openRedisHotState } from '@tollgate/platform/hot-state/redis/redis-hot-state'
import { hasRedisServer, RedisServerProcess } from '@tollgate/platform/testing/redis-server'
import { subjectKey } from '@tollgate/schemas/subject'
import { createLogAndStore, type LogAndStore } from './log-and-store.ts'
import { meterEvent } from './meter-event.ts'
import { SteppedProjections } from './stepped-projections.ts'

const providers = Array.from({ length: 8 }, (_, number) => `prov_${number}`)
const windows = [{ id: 'window', fromSecond: 0, toSecond: 4_000_000_000 }]

describe.skipIf(!hasRedisServer)('a restore of counts in a redis-server that is killed', () => {
  let logAndStore: LogAndStore
  let folder: string
  let server: RedisServerProcess
  let hot: HotState

  const settings = { appendonly: 'yes', appendfsync: 'always' }
  beforeEach(async () => {
    logAndStore = await createLogAndStore(1)
    folder = await mkdtemp(join(tmpdir(), 'tollgate-restore-on-redis-'))
    const port = await freePort()
    server = await RedisServerProcess.start({ folder, port, settings })
    hot = await openRedisHotState({ servers: { url: server.url } })
  })
  afterEach(async () => {
    await hot.close()
    await server.kill()
    await logAndStore.remove()
    await rm(folder, { recursive: true, force: true })
  })

  it('continues where it was interrupted', async () => {
    const projections = new SteppedProjections(logAndStore, {
      hotState: () => hot,
      recordsPerBatchMax: 100,
    })
    const { partition } = projections
    const events = providers.map((providerId) => {
      const id = `usage_${providerId}`.padEnd(32, '0')
      return meterEvent({ id, providerId, productRef: 'prd_1', idempotencyKey: providerId })
    })
    await projections.append(events)
    await projections.storeAll()

    let failures = 0
    for (let steps = 0; ; steps += 1) {
      // The server is killed between any two pieces, and again while it is away.
      if (steps % 3 === 2) await server.kill()
      const step = await projections.count()
      if (step === 'idle') break
      if (step !== 'wait') continue
      failures += 1
      server = await RedisServerProcess.start({ folder, port: server.port, settings })
      await expect
        .poll(() =>
          hot.ping().then(
            () => true,
            () => false,
          ),
        )
        .toBe(true)
    }
    expect(failures).toBeGreaterThan(3)
    expect(await projections.restores('begun')).toBe(1)
    for (const providerId of providers) {
      const subject = subjectKey(providerId, 'cus_1')
      const at = { space: 'sandbox', partition, subject, scope: 'prd_1' }
      await hot.putEntry(at, { version: 1, document: '{}', windows })
      const { amounts } = await hot.readEntry(at, 'requests')
      expect(amounts).toEqual(new Map([['window', 1_000_000n]]))
    }
  }, 120_000)
})
