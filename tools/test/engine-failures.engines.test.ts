import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Engine, EngineOptions } from '../src/engines/engine.ts'
import { startKafka, startKafkaBroker } from '../src/engines/kafka.ts'
import { brokersKnownTo } from '../src/engines/kafka-metadata.ts'
import { planFreePorts, type PortPlan } from '../src/engines/port-plan.ts'
import { startPostgres } from '../src/engines/postgres.ts'
import { isClusterComplete, startRedisCluster } from '../src/engines/redis-cluster.ts'
import { waitUntil } from '../src/engines/wait-until.ts'
import {
  makeTemporaryFolder,
  type TemporaryFolder,
} from '@tollgate/deploy/standalone/temporary-folder'
import { findMissingEngines } from '../../deploy/test/engines/find-missing-engines.ts'

const timeout = 300_000
const missing = await findMissingEngines()

let folder: TemporaryFolder
let options: EngineOptions
let ports: PortPlan
let engine: Engine | undefined

beforeEach(async () => {
  folder = await makeTemporaryFolder('engine')
  options = { root: folder.path, print: () => {}, endsWithParent: true, isShortLived: true }
  ports = await planFreePorts()
})

afterEach(async () => {
  await engine?.stop()
  await folder.remove()
})

describe.skipIf(missing.isLeftOut)(`three Kafka brokers${missing.title}`, () => {
  it(
    'continue without a killed broker, which joins again after its restart',
    { timeout },
    async () => {
      engine = await startKafka(options, ports.kafka)
      const [first, second] = engine.servers
      process.kill(second!.pid, 'SIGKILL')
      const survivors = async (): Promise<boolean> =>
        (await brokersKnownTo(first!.port)).sort().join() === '1,3'
      expect(await waitUntil(survivors, 60_000)).toBe(true)

      const again = await startKafkaBroker(options, ports.kafka, 1)
      expect(again.port).toBe(second!.port)
      expect(again.pid).not.toBe(second!.pid)
      expect((await brokersKnownTo(again.port)).sort()).toEqual([1, 2, 3])

      // The number of brokers is set once.
      const alone = startKafka(options, ports.kafka.slice(0, 1))
      await expect(alone).rejects.toThrow(/created with 3 broker/)
    },
  )
})

describe.skipIf(missing.isLeftOut)(`a Redis Cluster${missing.title}`, () => {
  it('is complete again after a killed master is restarted', { timeout }, async () => {
    const first = await startRedisCluster(options, ports.redisCluster)
    process.kill(first.servers[0]!.pid, 'SIGKILL')
    engine = await startRedisCluster(options, ports.redisCluster)
    expect(engine.servers.slice(1)).toMatchObject(
      first.servers.slice(1).map(({ pid }) => ({ pid })),
    )
    expect(await isClusterComplete(ports.redisCluster[0]!.port)).toBe(true)
  })

  it('is created again if its creation was interrupted', { timeout }, async () => {
    await startRedisCluster(options, ports.redisCluster)
    await rm(join(folder.path, 'redis-cluster', 'formed'))
    engine = await startRedisCluster(options, ports.redisCluster)
    expect(await isClusterComplete(ports.redisCluster[2]!.port)).toBe(true)
  })
})

describe.skipIf(missing.isLeftOut)(`PostgreSQL${missing.title}`, () => {
  it('restarts after a kill, at the same address', async () => {
    const first = await startPostgres(options, ports.postgres)
    process.kill(first.servers[0]!.pid, 'SIGKILL')
    engine = await startPostgres(options, ports.postgres)
    expect(engine.address).toBe(first.address)
  })
})
