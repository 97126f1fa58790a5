import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { EventLog } from '../src/event-log/event-log.ts'
import { openKafkaEventLog } from '../src/event-log/kafka/kafka-event-log.ts'
import { deleteTopics, kafkaOptions, testBrokers } from '../src/testing/kafka-under-test.ts'
import { randomRuns } from '../src/testing/random-runs.ts'
import { SeededRandom } from '../src/testing/seeded-random.ts'
import { CuttingProxy, type Fate } from './cutting-proxy.ts'

const topic = 'orders'
const partitions = [0, 1, 2, 3]
const perPartition = 20_000
/** Records that wait at one time: 800 kB, so that a second request is sent behind the first. */
const waitingMax = 4_000
const recordBytes = 200

describe.skipIf(testBrokers?.length !== 1)('order, with one TOLLGATE_TEST_KAFKA_BROKERS', () => {
  let proxy: CuttingProxy
  let log: EventLog
  let namePrefix: string

  afterEach(async () => {
    await log.close()
    proxy.close()
    await deleteTopics(testBrokers!, namePrefix)
  })

  async function open(decide: (inFlight: number) => Fate, deliveryTimeoutMs: number) {
    proxy = new CuttingProxy(Number(testBrokers![0]!.split(':')[1]), decide)
    const options = kafkaOptions([await proxy.listen()])
    namePrefix = options.namePrefix
    const writer = { ...options.writer, deliveryTimeoutMs, codec: 'gzip' as const }
    log = await openKafkaEventLog({ ...options, writer })
  }

  /** Appends consecutive numbers to each partition. Returns the refused ones. */
  async function appendAll(): Promise<Set<string>> {
    const refused = new Set<string>()
    let waiting = 0
    for (let number = 0; number < perPartition; number += 1) {
      for (const partition of partitions) {
        waiting += 1
        const value = Buffer.from(`${number}`.padEnd(recordBytes))
        log
          .append(topic, partition, value, Date.now())
          .catch(() => refused.add(`${partition}/${number}`))
          .finally(() => (waiting -= 1))
      }
      if (number % 7 === 0) await nextTurn()
      while (waiting > waitingMax) await nextTurn()
    }
    while (waiting > 0) await nextTurn()
    return refused
  }

  async function readAll(partition: number): Promise<number[]> {
    const numbers: number[] = []
    const head = await log.head(topic, partition)
    while (numbers.length < head) {
      const limits = { recordsMax: 10_000, bytesMax: 1_000_000 }
      for (const { value } of await log.read(topic, partition, numbers.length, limits)) {
        numbers.push(Number(Buffer.from(value).toString()))
      }
    }
    return numbers
  }

  it('is kept, and no record is stored twice, while connections break between two requests', async () => {
    const { seed } = randomRuns(1)
    const random = new SeededRandom(seed)
    const faults = ['lost', 'cut', 'unanswered'] as const
    let requests = 0
    const decide = (inFlight: number): Fate => {
      requests += 1
      // How many requests are sent depends on the machine, so every other one of the first 16 fails.
      const fails = requests <= 16 ? requests % 2 === 0 : random.chance(inFlight > 1 ? 0.2 : 0.05)
      return fails ? random.pick(faults) : 'passes'
    }
    await open(decide, 60_000)
    const refused = await appendAll()
    expect(refused.size, `seed ${seed}`).toBe(0)
    expect(proxy.inFlightMax, `seed ${seed}`).toBe(2)
    expect(proxy.cuts, `seed ${seed}`).toBeGreaterThan(5)
    const expected = Array.from({ length: perPartition }, (_, number) => number)
    for (const partition of partitions) {
      expect(await readAll(partition), `seed ${seed}`).toEqual(expected)
    }
  })

  it('is kept for acknowledged records, each stored once, when others are refused', async () => {
    const { seed } = randomRuns(1)
    const random = new SeededRandom(seed)
    // So many requests fail that batches reach the delivery timeout.
    const decide = (): Fate => (random.chance(0.4) ? 'unanswered' : 'passes')
    await open(decide, 60)
    const refused = await appendAll()
    expect(refused.size, `seed ${seed}`).toBeGreaterThan(0)
    for (const partition of partitions) {
      const found = await readAll(partition)
      expect(new Set(found).size, `seed ${seed}`).toBe(found.length)
      const acknowledged = found.filter((number) => !refused.has(`${partition}/${number}`))
      const expected = Array.from({ length: perPartition }, (_, number) => number)
      expect(acknowledged, `seed ${seed}`).toEqual(
        expected.filter((number) => !refused.has(`${partition}/${number}`)),
      )
    }
  })
})
