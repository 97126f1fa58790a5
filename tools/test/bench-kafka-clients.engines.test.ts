import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LogRecord } from '@tollgate/platform/event-log/event-log'
import { deleteTopics } from '@tollgate/platform/testing/kafka-under-test'
import type { ClientLog } from '../src/bench/kafka-clients/client-log.ts'
import { openKafkajsLog } from '../src/bench/kafka-clients/kafkajs-log.ts'
import { openOurLog } from '../src/bench/kafka-clients/our-log.ts'
import { openPlatformaticLog } from '../src/bench/kafka-clients/platformatic-log.ts'

const brokers = process.env['TOLLGATE_TEST_KAFKA_BROKERS']?.split(',')
const limits = { recordsMax: 10_000, bytesMax: 1024 * 1024 }

describe.skipIf(brokers === undefined)(
  'compared Kafka clients, with TOLLGATE_TEST_KAFKA_BROKERS',
  () => {
    let topic: string
    let clients: ClientLog[]
    beforeEach(async () => {
      topic = `clients-${randomUUID()}`
      clients = [
        await openOurLog(brokers!, topic, 2),
        await openKafkajsLog(brokers!, topic),
        await openPlatformaticLog(brokers!, topic),
      ]
    })
    afterEach(async () => {
      await Promise.all(clients.map((client) => client.close()))
      await deleteTopics(brokers!, topic)
    })

    it('store each acknowledged record once and in order, and read the same records', async () => {
      const reused = Buffer.alloc(8)
      for (const [index, client] of clients.entries()) {
        // Append more records than the first request contains, from a buffer that is overwritten immediately.
        for (let round = 0; round < 3; round++) {
          const appended = Array.from({ length: 500 }, (_, n) => {
            reused.writeInt32BE(index, 0)
            reused.writeInt32BE(500 * round + n, 4)
            return client.append(topic, n % 2, reused, 1_800_000_000_000 + n, 'customer')
          })
          await Promise.all(appended)
        }
      }
      for (const partition of [0, 1]) {
        const [own, other] = await Promise.all(
          [clients[0]!, clients[2]!].map((client) => readAll(client, topic, partition)),
        )
        expect(other).toEqual(own)
        expect(own!.map(({ offset }) => offset)).toEqual(own!.map((_, offset) => offset))
        const expected = [0, 1, 2].flatMap((index) =>
          Array.from({ length: 750 }, (_, n) => ({ index, number: 2 * n + partition })),
        )
        expect(own!.map(({ index, number }) => ({ index, number }))).toEqual(expected)
        expect(own!.every(({ receivedAtMs }) => receivedAtMs >= 1_800_000_000_000)).toBe(true)
      }
    })
  },
)

async function readAll({ reader }: ClientLog, topic: string, partition: number) {
  const records: LogRecord[] = []
  const head = await reader!.head(topic, partition)
  while (records.length < head) {
    records.push(...(await reader!.read(topic, partition, records.length, limits)))
  }
  return records.map(({ offset, receivedAtMs, value }) => {
    const bytes = Buffer.from(value)
    return { offset, receivedAtMs, index: bytes.readInt32BE(0), number: bytes.readInt32BE(4) }
  })
}
