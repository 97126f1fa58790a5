import { Kafka, logLevel, type Message } from 'kafkajs'
import type { ClientLog } from './client-log.ts'
import { GatheredAppends, type GatheredRecord } from './gathered-appends.ts'

/** Opens kafkajs with its own producer. It can only read as a member of a group. */
export async function openKafkajsLog(
  brokers: readonly string[],
  topic: string,
): Promise<ClientLog> {
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING })
  const producer = kafka.producer({ idempotent: true, allowAutoTopicCreation: false })
  await producer.connect()
  const appends = new GatheredAppends((records) =>
    producer.send({ topic, acks: -1, messages: records.map(toMessage) }),
  )
  return {
    append: (_, partition, value, receivedAtMs, key = '') =>
      appends.append({ partition, value, receivedAtMs, key }),
    close: () => producer.disconnect(),
  }
}

function toMessage({ partition, key, value, receivedAtMs }: GatheredRecord): Message {
  return { partition, key: key ?? null, value: value as Buffer, timestamp: String(receivedAtMs) }
}
