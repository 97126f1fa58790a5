import { setTimeout as sleep } from 'node:timers/promises'
import { EventLogUnavailableError, type EventLog } from '@tollgate/platform/event-log/event-log'
import { openKafkaEventLog } from '@tollgate/platform/event-log/kafka/kafka-event-log'
import { createLogger } from '@tollgate/platform/observability/logger'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Engine, EngineOptions } from '../src/engines/engine.ts'
import { startKafka, startKafkaBroker } from '../src/engines/kafka.ts'
import { planFreePorts, type PortPlan } from '../src/engines/port-plan.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/instance/temporary-folder.ts'
import { whatIsMissing } from './engines/startable.ts'

const timeout = 600_000
const topic = 'orders'
const partitionCount = 3
const missing = await whatIsMissing()

let folder: TemporaryFolder
let options: EngineOptions
let ports: PortPlan
let engine: Engine | undefined
let log: EventLog | undefined

beforeEach(async () => {
  folder = await makeTemporaryFolder('kafka-log')
  options = { root: folder.path, say: () => {}, endsWithParent: true }
  ports = await planFreePorts()
})

afterEach(async () => {
  await log?.close()
  log = undefined
  await engine?.stop()
  await folder.remove()
})

function openLog(copies: { all: number; inSync: number }, deliveryTimeoutMs: number) {
  return openKafkaEventLog({
    connection: { brokers: engine!.address.split(',') },
    namePrefix: '',
    topics: [topic],
    writer: {
      partitionCounts: { [topic]: partitionCount },
      replicationFactor: copies.all,
      minInSyncReplicas: copies.inSync,
      deliveryTimeoutMs,
    },
    groupTimeouts: { sessionTimeoutMs: 6_000, rebalanceTimeoutMs: 6_000 },
    answerWithinMs: 10_000,
    logger: createLogger('test', 'fatal'),
  })
}

/** Appends numbers one after the other on several lines at once, and remembers which ones were acknowledged. */
class Writing {
  readonly acked: number[] = []
  readonly refused: number[] = []
  #next = 0
  #isWriting = true
  readonly #lines: Promise<void[]>

  constructor(to: EventLog) {
    this.#lines = Promise.all(Array.from({ length: 12 }, () => this.#write(to)))
  }

  async stop(): Promise<void> {
    this.#isWriting = false
    await this.#lines
  }

  async #write(to: EventLog): Promise<void> {
    while (this.#isWriting) {
      const number = this.#next++
      try {
        await to.append(topic, number % partitionCount, Buffer.from(`${number}`), Date.now())
        this.acked.push(number)
      } catch (error) {
        if (!(error instanceof EventLogUnavailableError)) throw error
        this.refused.push(number)
      }
      await sleep(2)
    }
  }
}

async function readAll(from: EventLog): Promise<number[]> {
  const numbers: number[] = []
  for (let partition = 0; partition < partitionCount; partition += 1) {
    const head = await from.head(topic, partition)
    for (let offset = 0; offset < head;) {
      const limits = { recordsMax: 1_000, bytesMax: 1_000_000 }
      const records = await from.read(topic, partition, offset, limits)
      for (const record of records) {
        expect(record.offset).toBe(offset++)
        numbers.push(Number(Buffer.from(record.value).toString()))
      }
    }
  }
  return numbers
}

describe.skipIf(missing.isLeftOut)(`the log on three Kafka brokers${missing.title}`, () => {
  it(
    'acknowledges and keeps everything once while one after the other is killed',
    { timeout },
    async () => {
      engine = await startKafka(options, ports.kafka)
      log = await openLog({ all: 3, inSync: 2 }, 120_000)
      const writing = new Writing(log)
      for (const [index, { pid }] of engine.servers.entries()) {
        await sleep(1_000)
        const ackedBefore = writing.acked.length
        process.kill(pid, 'SIGKILL')
        await expect
          .poll(() => writing.acked.length, { timeout: 120_000 })
          .toBeGreaterThan(ackedBefore + 200)
        await startKafkaBroker(options, ports.kafka, index)
        await untilInSync(log)
      }
      await writing.stop()
      expect(writing.refused).toEqual([])
      const found = await readAll(log)
      expect(found.sort((a, b) => a - b)).toEqual(writing.acked.sort((a, b) => a - b))
    },
  )
})

/** Asks where partitions end, over and over, and remembers every answer that lacks what was acknowledged before it. */
class Watching {
  readonly stale: string[] = []
  answers = 0
  #isWatching = true
  readonly #lines: Promise<void[]>

  constructor(of: EventLog, writing: Writing) {
    const lines = Array.from({ length: partitionCount * 4 }, (_, line) => line % partitionCount)
    this.#lines = Promise.all(lines.map((partition) => this.#watch(of, writing, partition)))
  }

  async stop(): Promise<void> {
    this.#isWatching = false
    await this.#lines
  }

  async #watch(of: EventLog, writing: Writing, partition: number): Promise<void> {
    while (this.#isWatching) {
      const acked = writing.acked.filter((number) => number % partitionCount === partition).length
      try {
        const head = await of.head(topic, partition)
        this.answers += 1
        if (head < acked) this.stale.push(`${head} of ${acked} in partition ${partition}`)
      } catch (error) {
        if (!(error instanceof EventLogUnavailableError)) throw error
      }
      await sleep(5)
    }
  }
}

describe.skipIf(missing.isLeftOut)(`another process on three Kafka brokers${missing.title}`, () => {
  it(
    'is never told an end of the log from before another leader took over',
    { timeout },
    async () => {
      engine = await startKafka(options, ports.kafka)
      log = await openLog({ all: 3, inSync: 2 }, 120_000)
      const others = await openLog({ all: 3, inSync: 2 }, 120_000)
      const writing = new Writing(log)
      const watching = new Watching(others, writing)
      try {
        for (const { pid } of engine.servers) {
          process.kill(pid, 'SIGSTOP')
          const ackedBefore = writing.acked.length
          await sleep(9_000)
          await expect
            .poll(() => writing.acked.length, { timeout: 60_000 })
            .toBeGreaterThan(ackedBefore + 200)
          // Another one leads by now, and this one wakes up believing that it does.
          process.kill(pid, 'SIGCONT')
          await untilInSync(log)
        }
      } finally {
        for (const { pid } of engine.servers) process.kill(pid, 'SIGCONT')
        await Promise.all([writing.stop(), watching.stop()])
        await others.close()
      }
      expect(watching.stale).toEqual([])
      expect(watching.answers).toBeGreaterThan(1_000)
      expect(writing.refused).toEqual([])
    },
  )
})

describe.skipIf(missing.isLeftOut)(`the log on one Kafka broker${missing.title}`, () => {
  it(
    'loses nothing it acknowledged and writes nothing twice while the broker is killed',
    { timeout },
    async () => {
      engine = await startKafka(options, ports.kafka.slice(0, 1))
      log = await openLog({ all: 1, inSync: 1 }, 1_500)
      const writing = new Writing(log)
      let server = engine.servers[0]!
      for (let round = 0; round < 3; round += 1) {
        await sleep(500 + round * 77)
        process.kill(server.pid, 'SIGKILL')
        const refusedBefore = writing.refused.length
        await expect
          .poll(() => writing.refused.length, { timeout: 60_000 })
          .toBeGreaterThan(refusedBefore)
        await expect(log.checkWritable()).rejects.toThrow(EventLogUnavailableError)
        server = await startKafkaBroker(options, ports.kafka.slice(0, 1), 0)
        const ackedBefore = writing.acked.length
        await expect
          .poll(() => writing.acked.length, { timeout: 60_000 })
          .toBeGreaterThan(ackedBefore + 100)
        await log.checkWritable()
      }
      await writing.stop()
      const found = await readAll(log)
      expect(new Set(found).size).toBe(found.length)
      const inLog = new Set(found)
      expect(writing.acked.filter((number) => !inLog.has(number))).toEqual([])
    },
  )

  it('gives a group its partitions back after the broker was killed', { timeout }, async () => {
    engine = await startKafka(options, ports.kafka.slice(0, 1))
    log = await openLog({ all: 1, inSync: 1 }, 10_000)
    const held = new Set<number>()
    const membership = await log.join('sink', [topic], {
      assigned: (_topic, partition) => void held.add(partition),
      revoked: async (_topic, partition) => void held.delete(partition),
    })
    const isWhole = (): boolean => membership.isJoined && held.size === partitionCount
    await expect.poll(isWhole, { timeout: 120_000 }).toBe(true)
    const [zero, one] = [
      { offset: 0, note: '' },
      { offset: 1, note: 'before' },
    ]
    await log.commit('sink', topic, 0, zero, one)
    process.kill(engine.servers[0]!.pid, 'SIGKILL')
    await startKafkaBroker(options, ports.kafka.slice(0, 1), 0)
    const commit = async (): Promise<string> => {
      const before = await log!.position('sink', topic, 0)
      await log!.commit('sink', topic, 0, before, { offset: before.offset + 1, note: 'after' })
      return (await log!.position('sink', topic, 0)).note
    }
    await expect
      .poll(() => commit().catch((error: Error) => error.name), { timeout: 120_000 })
      .toBe('after')
    await expect.poll(isWhole, { timeout: 120_000 }).toBe(true)
    await membership.leave()
  })
})

/** All three have everything again, so that the next one may be killed. */
async function untilInSync(of: EventLog): Promise<void> {
  const check = (): Promise<string> => of.checkWritable().then(() => 'writable', String)
  await expect.poll(check, { timeout: 120_000 }).toBe('writable')
  await sleep(3_000)
}
