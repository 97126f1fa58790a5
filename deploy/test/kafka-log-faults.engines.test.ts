import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventLogUnavailableError, type EventLog } from '@tollgate/platform/event-log/event-log'
import { openKafkaEventLog } from '@tollgate/platform/event-log/kafka/kafka-event-log'
import { createLogger } from '@tollgate/platform/observability/logger'
import { copiesInSync } from '@tollgate/platform/testing/kafka-under-test'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { engineOf, type Engine, type EngineOptions } from '../../tools/src/engines/engine.ts'
import { startKafka, startKafkaBroker } from '../../tools/src/engines/kafka.ts'
import { planFreePorts, type PortPlan } from '../../tools/src/engines/port-plan.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/standalone/temporary-folder.ts'
import { findMissingEngines } from './engines/find-missing-engines.ts'

const timeout = 600_000
const topic = 'orders'
const partitionCount = 3
const missing = await findMissingEngines()

let folder: TemporaryFolder
let options: EngineOptions
let ports: PortPlan
let engine: Engine
let namePrefix: string
let log: EventLog

beforeEach(() => {
  namePrefix = `${randomUUID()}.`
})
afterEach(() => log.close())

/** Starts brokers for all tests of a suite, because they take long to start. Every test leaves them in sync. */
function startBrokers(count: 1 | 3): void {
  beforeAll(async () => {
    folder = await makeTemporaryFolder('kafka-log')
    options = { root: folder.path, print: () => {}, endsWithParent: true, isShortLived: true }
    const planned = await planFreePorts()
    ports = { ...planned, kafka: planned.kafka.slice(0, count) }
    engine = await startKafka(options, ports.kafka)
  }, timeout)
  afterAll(async () => {
    await engine.stop()
    await folder.remove()
  })
}

/** Starts a killed broker again. */
async function restartBroker(index: number): Promise<void> {
  const server = await startKafkaBroker(options, ports.kafka, index)
  engine = engineOf(engine.address, engine.servers.with(index, server))
}

function openLog(deliveryTimeoutMs: number, answerWithinMs = 10_000) {
  const copies = ports.kafka.length
  return openKafkaEventLog({
    connection: { brokers: engine.address.split(',') },
    namePrefix,
    topics: [topic],
    writer: {
      partitionCounts: { [topic]: partitionCount },
      replicationFactor: copies,
      minInSyncReplicas: copies > 1 ? 2 : 1,
      deliveryTimeoutMs,
      codec: 'gzip',
    },
    groupTimeouts: { sessionTimeoutMs: 6_000, rebalanceTimeoutMs: 6_000 },
    answerWithinMs,
    logger: createLogger('test', 'fatal'),
  })
}

/** Number of concurrent lines. Each has one append in flight at a time. */
const linesTotal = 12

/** Appends consecutive numbers on several lines at once, and records which of them were acknowledged. */
class Writing {
  readonly acked: number[] = []
  readonly ackedByPartition: number[] = Array<number>(partitionCount).fill(0)
  readonly refused: number[] = []
  #next = 0
  #isWriting = true
  readonly #lines: Promise<void[]>

  constructor(to: EventLog) {
    this.#lines = Promise.all(Array.from({ length: linesTotal }, () => this.#write(to)))
  }

  /** Waits until each partition acknowledges records appended after this call, whichever broker leads it. */
  async untilAllGoOn(): Promise<void> {
    const before = [...this.ackedByPartition]
    const goesOn = (count: number, partition: number) => count > before[partition]! + 4 * linesTotal
    await expect.poll(() => this.ackedByPartition.every(goesOn), { timeout: 120_000 }).toBe(true)
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
        this.ackedByPartition[number % partitionCount]! += 1
      } catch (error) {
        if (!(error instanceof EventLogUnavailableError)) throw error
        this.refused.push(number)
      }
      await sleep(2)
    }
  }
}

/** Appends consecutive numbers without waiting for the one before, so that full batches follow each other. */
class OrderedStream {
  count = 0
  refused = 0
  #waiting = 0
  #isWriting = true
  readonly #written: Promise<void>

  constructor(to: EventLog) {
    this.#written = this.#write(to)
  }

  /** Waits until that many more records are acknowledged. */
  async untilAcknowledged(more: number): Promise<void> {
    const goal = this.count - this.#waiting + more
    await expect
      .poll(() => this.count - this.#waiting, { timeout: 120_000, interval: 5 })
      .toBeGreaterThan(goal)
  }

  async stop(): Promise<void> {
    this.#isWriting = false
    await this.#written
  }

  async #write(to: EventLog): Promise<void> {
    while (this.#isWriting || this.#waiting > 0) {
      while (this.#isWriting && this.#waiting < 6_000) {
        const number = this.count++
        this.#waiting += 1
        to.append(topic, number % partitionCount, Buffer.from(`${number}`.padEnd(200)), Date.now())
          .catch(() => (this.refused += 1))
          .finally(() => (this.#waiting -= 1))
      }
      await sleep(1)
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
  startBrokers(3)

  it(
    'keeps every acknowledged record once while brokers are killed in turn',
    { timeout },
    async () => {
      log = await openLog(120_000)
      const writing = new Writing(log)
      for (const [index, { pid }] of engine.servers.entries()) {
        await writing.untilAllGoOn()
        process.kill(pid, 'SIGKILL')
        await writing.untilAllGoOn()
        await restartBroker(index)
        await untilInSync()
      }
      await writing.stop()
      expect(writing.refused).toEqual([])
      const found = await readAll(log)
      expect(found.sort((a, b) => a - b)).toEqual(writing.acked.sort((a, b) => a - b))
    },
  )

  it(
    'never returns an end offset from before a leader change to another process',
    { timeout },
    async () => {
      log = await openLog(120_000)
      const others = await openLog(120_000)
      const writing = new Writing(log)
      const watching = new Watching(others, writing)
      try {
        for (const { pid } of engine.servers) {
          process.kill(pid, 'SIGSTOP')
          // Another broker leads by then. The suspended broker resumes and still considers itself the leader.
          await writing.untilAllGoOn()
          process.kill(pid, 'SIGCONT')
          await untilInSync()
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

/** Reads the heads of partitions repeatedly, and records every answer that lacks records acknowledged before it. */
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
      const acked = writing.ackedByPartition[partition]!
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

describe.skipIf(missing.isLeftOut)(`the log on one Kafka broker${missing.title}`, () => {
  startBrokers(1)

  it('keeps every acknowledged record once while the broker is killed', { timeout }, async () => {
    // The check of a log whose only broker is gone takes the whole second time.
    log = await openLog(1_500, 3_000)
    const writing = new Writing(log)
    for (let round = 0; round < 3; round += 1) {
      await writing.untilAllGoOn()
      await sleep(round * 77)
      process.kill(engine.servers[0]!.pid, 'SIGKILL')
      const refusedBefore = writing.refused.length
      await expect
        .poll(() => writing.refused.length, { timeout: 60_000 })
        .toBeGreaterThan(refusedBefore)
      await expect(log.checkWritable()).rejects.toThrow(EventLogUnavailableError)
      await restartBroker(0)
      await writing.untilAllGoOn()
      await log.checkWritable()
    }
    await writing.stop()
    const found = await readAll(log)
    expect(new Set(found).size).toBe(found.length)
    const inLog = new Set(found)
    expect(writing.acked.filter((number) => !inLog.has(number))).toEqual([])
  })

  it(
    'keeps the order of records while the broker is killed with two requests in flight',
    { timeout },
    async () => {
      log = await openLog(120_000)
      const stream = new OrderedStream(log)
      for (let round = 0; round < 2; round += 1) {
        await stream.untilAcknowledged(5_000)
        process.kill(engine.servers[0]!.pid, 'SIGKILL')
        await restartBroker(0)
      }
      await stream.untilAcknowledged(5_000)
      await stream.stop()
      expect(stream.refused).toBe(0)
      // A partition gets every third number.
      const found = await readAll(log)
      const expected = [...Array(stream.count).keys()]
      expect(found).toEqual([0, 1, 2].flatMap((at) => expected.filter((n) => n % 3 === at)))
    },
  )

  it('gives a group its partitions back after the broker was killed', { timeout }, async () => {
    log = await openLog(10_000)
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
    await restartBroker(0)
    const commit = async (): Promise<string> => {
      const before = await log.position('sink', topic, 0)
      await log.commit('sink', topic, 0, before, { offset: before.offset + 1, note: 'after' })
      return (await log.position('sink', topic, 0)).note
    }
    await expect
      .poll(() => commit().catch((error: Error) => error.name), { timeout: 120_000 })
      .toBe('after')
    await expect.poll(isWhole, { timeout: 120_000 }).toBe(true)
    await membership.leave()
  })
})

/** Waits until every broker reports that all replicas are in sync, so that the next broker may fail. */
async function untilInSync(): Promise<void> {
  const copies = async (): Promise<number> => {
    const told = engine.address.split(',').map((broker) => copiesInSync(broker, namePrefix + topic))
    return Math.min(...(await Promise.all(told)))
  }
  await expect
    .poll(() => copies().catch(() => 0), { timeout: 120_000, interval: 500 })
    .toBe(engine.servers.length)
}
