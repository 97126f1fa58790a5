import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventLog } from '../src/event-log/event-log.ts'
import { KafkaCluster } from '../src/event-log/kafka/kafka-cluster.ts'
import { openKafkaEventLog } from '../src/event-log/kafka/kafka-event-log.ts'
import { codecIds } from '../src/event-log/kafka/wire/codecs.ts'
import type { WriterCodec } from '../src/event-log/kafka/wire/compress.ts'
import { fetchRequest } from '../src/event-log/kafka/wire/requests.ts'
import { canCompressZstd } from '../src/event-log/kafka/wire/zstd.ts'
import {
  deleteTopics,
  kafkaOptions,
  setBrokerCompression,
  testBrokers,
} from '../src/testing/kafka-under-test.ts'

const topic = 'orders'
const perRound = 500
const receivedAtMs = Date.now()

describe.skipIf(testBrokers === undefined)('codecs, with TOLLGATE_TEST_KAFKA_BROKERS', () => {
  let options: ReturnType<typeof kafkaOptions>
  let appended: number
  const opened: EventLog[] = []

  beforeEach(() => {
    options = kafkaOptions(testBrokers!)
    appended = 0
  })

  afterEach(async () => {
    for (const log of opened.splice(0)) await log.close()
    await deleteTopics(testBrokers!, options.namePrefix)
  })

  async function open(codec: WriterCodec, decompressedBytesMax?: number): Promise<EventLog> {
    const log = await openKafkaEventLog({
      ...options,
      writer: { ...options.writer, codec },
      ...(decompressedBytesMax === undefined ? {} : { decompressedBytesMax }),
    })
    opened.push(log)
    return log
  }

  /** Appends one batch of consecutive numbers to partition 0. */
  async function appendRound(log: EventLog, count = perRound): Promise<void> {
    const records = Array.from({ length: count }, (_, n) => {
      return { partition: 0, value: valueOf(appended + n), key: `customer_${n % 7}` }
    })
    appended += count
    await log.appendAll(topic, records, receivedAtMs)
  }

  async function expectAllRead(log: EventLog): Promise<void> {
    const found: string[] = []
    for (let offset = 0; offset < appended;) {
      const records = await log.read(topic, 0, offset, { recordsMax: 333, bytesMax: 100_000 })
      for (const record of records) {
        expect(record.offset).toBe(offset++)
        expect(record.receivedAtMs).toBe(receivedAtMs)
        found.push(Buffer.from(record.value).toString())
      }
    }
    expect(found).toEqual(Array.from({ length: appended }, (_, n) => valueOf(n).toString()))
  }

  it('read a log of plain batches and of every codec, from this writer and from the broker', async () => {
    const own = ['none', 'gzip', 'lz4', ...(canCompressZstd ? (['zstd'] as const) : [])] as const
    for (const codec of own) await appendRound(await open(codec))
    // The broker compresses again, in the way of Java's clients.
    for (const codec of ['gzip', 'snappy', 'lz4', 'zstd', 'uncompressed']) {
      await setBrokerCompression(testBrokers!, options.namePrefix + topic, codec)
      await appendRound(await open('none'))
      await appendRound(await open('lz4'))
    }
    const found = await storedCodecs(options.namePrefix + topic)
    expect(new Set(found)).toEqual(new Set(Object.values(codecIds)))
    const { writer: _, ...readerOptions } = options
    const reader = await openKafkaEventLog(readerOptions)
    opened.push(reader)
    await expectAllRead(reader)
    await expectAllRead(opened[0]!)
  })

  it('wake a waiting reader with compressed records', async () => {
    const log = await open('gzip')
    const { writer: _, ...readerOptions } = options
    const reader = await openKafkaEventLog(readerOptions)
    opened.push(reader)
    await reader.waitForAppend(topic, 100)
    const woken = reader.waitForAppend(topic, 10_000)
    await appendRound(log)
    await woken
    await expectAllRead(reader)
  })

  it('stop at a batch that is too large, and continue with a larger limit', async () => {
    const writer = await open('gzip')
    await appendRound(writer, 10)
    await appendRound(writer, 4_000)
    const small = await open('none', 100_000)
    const limits = { recordsMax: 5_000, bytesMax: 1_000_000 }
    expect(await small.read(topic, 0, 0, limits)).toHaveLength(10)
    await small.waitForAppend(topic, 50)
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(small.read(topic, 0, 10, limits)).rejects.toThrow(
        /orders\/0.*offset 10 .*100000 bytes \(TOLLGATE_KAFKA_BATCH_BYTES_MAX\)/,
      )
    }
    await expectAllRead(await open('none'))
  })
})

function valueOf(number: number): Buffer {
  return Buffer.from(`{"customerRef":"customer_${number % 13}","units":${number}}`.padEnd(120))
}

/** Returns the codec of every batch of partition 0. */
async function storedCodecs(topicName: string): Promise<number[]> {
  const cluster = new KafkaCluster({ brokers: testBrokers! }, [topicName])
  await cluster.refresh()
  const at = { topic: topicName, partition: 0 }
  const wanted = { ...at, fromOffset: 0, bytesMax: 8_000_000 }
  const [result] = await cluster.send(
    cluster.state(at)!.leader,
    fetchRequest([wanted], { waitMs: 0, bytesMax: 8_000_000 }),
  )
  cluster.close()
  const codecs: number[] = []
  const { batches } = result!
  for (let start = 0; start < batches.byteLength; start += 12 + batches.readInt32BE(start + 8)) {
    codecs.push(batches.readInt16BE(start + 21) & 0x07)
  }
  return codecs
}
