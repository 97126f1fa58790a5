import {
  Consumer,
  ProduceAcks,
  Producer,
  stringSerializer,
  type MessageToProduce,
} from '@platformatic/kafka'
import type { LogRecord, ReadLimits } from '@tollgate/platform/event-log/event-log'
import type { ClientLog } from './client-log.ts'
import { GatheredAppends, type GatheredRecord } from './gathered-appends.ts'

/** Opens @platformatic/kafka with its producer, and with its consumer outside a group, which can fetch from any offset. */
export async function openPlatformaticLog(
  brokers: readonly string[],
  topic: string,
): Promise<ClientLog> {
  const shared = { clientId: 'bench', bootstrapBrokers: [...brokers], autocreateTopics: false }
  const producer = new Producer<string, Buffer>({
    ...shared,
    idempotent: true,
    acks: ProduceAcks.ALL,
    serializers: { key: stringSerializer },
  })
  const consumer = new Consumer({ ...shared, groupId: 'never-joined' })
  const appends = new GatheredAppends((records) =>
    producer.send({ messages: records.map((record) => toMessage(topic, record)) }),
  )
  return {
    append: (_, partition, value, receivedAtMs, key = '') =>
      appends.append({ partition, value, receivedAtMs, key }),
    reader: {
      head: (_, partition) => readHead(consumer, topic, partition),
      read: (_, ...request) => read(consumer, topic, ...request),
    },
    close: async () => {
      await Promise.all([producer.close(), consumer.close()])
    },
  }
}

function toMessage(
  topic: string,
  { partition, key, value, receivedAtMs }: GatheredRecord,
): MessageToProduce<string, Buffer> {
  const timestamp = BigInt(receivedAtMs)
  return { topic, partition, key: key ?? '', value: value as Buffer, timestamp }
}

async function readHead(consumer: Consumer, topic: string, partition: number): Promise<number> {
  const heads = await consumer.listOffsets({ topics: [topic], timestamp: -1n })
  return Number(heads.get(topic)![partition])
}

async function read(
  consumer: Consumer,
  topic: string,
  partition: number,
  fromOffset: number,
  { bytesMax }: ReadLimits,
): Promise<LogRecord[]> {
  const metadata = await consumer.metadata({ topics: [topic] })
  const { id: topicId, partitions } = metadata.topics.get(topic)!
  const wanted = {
    partition,
    fetchOffset: BigInt(fromOffset),
    partitionMaxBytes: bytesMax,
    currentLeaderEpoch: -1,
    lastFetchedEpoch: -1,
  }
  const { responses } = await consumer.fetch({
    node: partitions[partition]!.leader,
    topics: [{ topicId, partitions: [wanted] }],
    maxBytes: bytesMax,
    maxWaitTime: 0,
  })
  const batches = responses[0]?.partitions[0]?.records ?? []
  return batches
    .flatMap(({ firstOffset, firstTimestamp, records }) =>
      records.map(({ offsetDelta, timestampDelta, value }) => ({
        offset: Number(firstOffset) + offsetDelta,
        receivedAtMs: Number(firstTimestamp + timestampDelta),
        value: value ?? Buffer.alloc(0),
      })),
    )
    .filter(({ offset }) => offset >= fromOffset)
}
