import { mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HotState } from '../src/hot-state/hot-state.ts'
import { openRedisHotState } from '../src/hot-state/redis/redis-hot-state.ts'
import { freePort } from '../src/testing/free-ports.ts'
import { nothingExpired } from '../src/testing/nothing-expired.ts'
import { hasRedisServer, RedisServerProcess } from '../src/testing/redis-server.ts'
import { answered } from './answered.ts'
import {
  applyBatches,
  applyUntilItFails,
  restoreBatches,
  restoreUntilItFails,
} from './counted-batches.ts'
import { expectExact } from './expect-exact.ts'
import { callTimeoutMs } from './patience.ts'
import { expectPublishedExact } from './published-rounds.ts'
import { runUntilKilled } from './run-until-killed.ts'

const settings = { appendonly: 'yes', appendfsync: 'everysec' }

describe.skipIf(!hasRedisServer)('hot state on a redis-server that is killed', () => {
  let folder: string
  let server: RedisServerProcess
  let hot: HotState
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hot-state-redis-crash-'))
    const port = await freePort()
    server = await RedisServerProcess.start({ folder, port, settings })
    hot = await openRedisHotState({ servers: { url: server.url }, callTimeoutMs })
  })
  afterEach(async () => {
    await hot.close()
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  })

  /** Applies batches until the server is killed. Returns the offset up to which they were acknowledged. */
  async function applyAndKill(): Promise<number> {
    const applying = applyUntilItFails(hot)
    await sleep(50 + Math.random() * 200)
    await server.kill()
    return await applying
  }

  async function restart(): Promise<void> {
    server = await RedisServerProcess.start({ folder, port: server.port, settings })
    await answered(() => hot.ping())
  }

  it('has counts that match the fence', async () => {
    for (let run = 0; run < 3; run += 1) {
      await applyAndKill()
      await restart()
      await expectExact(hot)
    }
    expect(await applyBatches(hot, 1)).toBeGreaterThan(0)
  })

  it('has counts that match the fence, even if the last writes are lost', async () => {
    const told = await applyAndKill()
    await cutAppendOnlyFile(folder)
    await restart()
    expect(await expectExact(hot)).toBeLessThan(told)

    // The next load finds the beginning of the batch that was cut, and applies it together with later writes.
    await applyAndKill()
    await restart()
    await expectExact(hot)
    const applied = await applyBatches(hot, 5)
    expect(await expectExact(hot)).toBe(applied)

    const limits = { ...nothingExpired, keysMax: 1_000 }
    while ((await hot.sweep('live', 0, limits)) > 0);
    expect(await expectExact(hot)).toBe(applied)
    // The generation of the entries, and that of the counts.
    expect(await generations(server.url)).toHaveLength(2)
  })

  it('has correct counts after a publisher was killed and the publication is repeated', async () => {
    const killedAt: (string | undefined)[] = []
    for (let run = 0; run < 4; run += 1) {
      const script = 'hot-state-publish-until-killed.ts'
      const lines = await runUntilKilled(script, [server.url], 20 + Math.random() * 300)
      killedAt.push(lines.at(-1))
      await expectPublishedExact(hot)
    }
    expect(killedAt).toContain('publishing')
  }, 120_000)

  it('keeps the counts in use after a restoring process was killed, and then restores exactly', async () => {
    const killedAt: (string | undefined)[] = []
    for (let run = 0; run < 4; run += 1) {
      const script = 'hot-state-restore-until-killed.ts'
      const lines = await runUntilKilled(script, [server.url], 20 + Math.random() * 300)
      killedAt.push(lines.at(-1))
      const applied = await expectExact(hot)
      expect(await restoreBatches(hot, applied)).toBe('restored')
      expect(await expectExact(hot)).toBe(applied)
    }
    expect(killedAt).toContain('restoring')
  }, 120_000)

  it('restores exactly after the server was killed during a restore, even if the last writes are lost', async () => {
    for (const isCut of [false, true, false]) {
      let where = 'applied'
      const restoring = restoreUntilItFails(hot, (now) => (where = now))
      await expect.poll(() => where).toBe('restoring')
      await sleep(Math.random() * 200)
      await server.kill()
      await restoring
      if (isCut) await cutAppendOnlyFile(folder)
      await restart()
      const applied = await expectExact(hot)
      expect(await restoreBatches(hot, applied)).toBe('restored')
      expect(await expectExact(hot)).toBe(applied)
    }
  }, 120_000)
})

async function generations(url: string): Promise<string[]> {
  const client = new Redis(url)
  const names = await client.keys('{tollgate:live:0}:*')
  client.disconnect()
  return [...new Set(names.map((name) => name.split(':')[3]!))]
}

/** Simulates a power failure: the last writes never reached the disk, and the file ends in the middle of a batch. */
async function cutAppendOnlyFile(folder: string): Promise<void> {
  const parts = join(folder, 'appendonlydir')
  const name = (await readdir(parts)).find((part) => part.endsWith('.incr.aof'))!
  const { size } = await stat(join(parts, name))
  await truncate(join(parts, name), Math.floor(size * (0.3 + Math.random() * 0.5)))
}
