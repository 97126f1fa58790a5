import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HotState } from '../src/hot-state/hot-state.ts'
import { openRedisHotState } from '../src/hot-state/redis/redis-hot-state.ts'
import { RedisTestCluster } from '../src/testing/redis-cluster.ts'
import { hasRedisServer } from '../src/testing/redis-server.ts'
import { request } from '../src/testing/reserved-place.ts'
import { answered } from './answered.ts'
import { applyBatches, batchFrom, countedPartition, recordsPerBatch } from './counted-batches.ts'
import { expectExact } from './expect-exact.ts'

/** Far below the timeout of `answered`: a call that a dying node never answers is repeated. */
const callTimeoutMs = 5_000

const { space, partition } = countedPartition
const head = `{tollgate:${space}:${partition}}`
const at = { space, partition, subject: 's0', scope: 'a' }

describe.skipIf(!hasRedisServer)('hot state on a Redis Cluster of its own', () => {
  let folder: string
  let cluster: RedisTestCluster
  let hot: HotState
  let owner: number

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hot-state-redis-cluster-'))
    cluster = await RedisTestCluster.start(folder)
    owner = await cluster.masterOf(head)
    hot = await openRedisHotState({
      servers: { clusterNodes: cluster.addresses.slice(0, 2) },
      callTimeoutMs,
    })
  })
  afterEach(async () => {
    await hot.close()
    await cluster.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('continues at the replica that takes over, which has no script yet', async () => {
    await applyBatches(hot, 2)
    const before = await hot.incarnation()
    expect(before.split(' ')).toHaveLength(3)
    expect(await cluster.numberOfScripts(cluster.replicas[owner]!)).toBe(0)
    await cluster.failOver(owner)
    await expect.poll(() => hot.incarnation().catch(() => before)).not.toBe(before)
    await answered(() => hot.appliedOffset(space, partition))
    await applyBatches(hot, 2)
    expect(await cluster.numberOfScripts(cluster.replicas[owner]!)).toBeGreaterThan(0)
    expect(await expectExact(hot)).toBe(4 * recordsPerBatch)
  })

  it('reports a master that accepts writes without its replica', async () => {
    await expect(hot.checkReplicas(1)).rejects.toThrow(/Set its min-replicas-to-write to 1 or more/)
    for (const { client } of cluster.masters) {
      await client.config('SET', 'min-replicas-to-write', '1')
    }
    await hot.checkReplicas(1)
    await expect(hot.checkReplicas(2)).rejects.toThrow(/it is 1/)
  })

  it('applies batches again that the new master had not received', async () => {
    await applyBatches(hot, 2)
    await expectExact(hot)
    await cluster.cutOffReplica(owner)
    const told = await applyBatches(hot, 3)
    await cluster.masters[owner]!.server.kill()
    await cluster.takeOver(owner)
    const left = await answered(() => hot.appliedOffset(space, partition))
    expect([left, told]).toEqual([2 * recordsPerBatch, 5 * recordsPerBatch])
    expect(await answered(() => expectExact(hot))).toBe(left)
    await answered(() => applyBatches(hot, 3))
    expect(await answered(() => expectExact(hot))).toBe(told)
  })

  it('waits for counters again after a failover, which may have lost reservations', async () => {
    const place = { ...request('').at, space, partition }
    const reserve = (id: string, minOffset: number) =>
      hot.reserve(request(id, { at: place, document: undefined, minOffset, isReservedFirst: true }))
    const read = async () =>
      hot.readTaken({ at: place, series: 'calls', windowId: 'w', minOffset: 10 })
    await reserve('a', 0)
    expect(await reserve('b', 10)).toMatchObject({ kind: 'admitted' })
    await cluster.masters[owner]!.client.call('WAIT', 1, 0)
    await cluster.cutOffReplica(owner)
    expect(await reserve('c', 10)).toMatchObject({ kind: 'admitted' })
    await cluster.masters[owner]!.server.kill()
    await cluster.takeOver(owner)
    expect(await answered(read)).toEqual({ kind: 'behind' })
    expect(await reserve('d', 10)).toEqual({ kind: 'behind' })
    expect(await reserve('d', 0)).toMatchObject({ kind: 'admitted', taken: { reserved: 3n } })
    expect(await reserve('e', 10)).toMatchObject({ kind: 'admitted' })
  })

  it('wakes waiting readers on any node, even after a node died', async () => {
    const reader = await openRedisHotState({
      servers: { clusterNodes: cluster.addresses },
      callTimeoutMs,
    })
    await reader.waitForApply(1)
    for (const [index, { server }] of cluster.masters.entries()) {
      if (index === owner) continue
      await server.kill()
      const before = await answered(() => reader.appliedOffset(space, partition))
      await answered(() => applyBatches(hot, 1))
      while ((await reader.appliedOffset(space, partition)) === before)
        await reader.waitForApply(10_000)
      break
    }
    await reader.close()
  })

  it('changes nothing while its keys are moved to another node, and continues there', async () => {
    await applyBatches(hot, 2)
    await expectExact(hot)
    const impatient = await openRedisHotState({
      servers: { clusterNodes: cluster.addresses },
      callTimeoutMs: 500,
    })
    const move = await cluster.beginMove(head, owner, (owner + 1) % 3)
    for (const moved of [0, 3, 20, 10_000]) {
      await move.some(moved)
      await expect(impatient.apply(batchFrom(2 * recordsPerBatch))).rejects.toThrow()
      await expect(impatient.readEntry(at, 'calls')).rejects.toThrow()
    }
    await move.finish()
    await impatient.close()
    await answered(() => applyBatches(hot, 2))
    expect(await expectExact(hot)).toBe(4 * recordsPerBatch)
  })
})
