import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import kafkajs, { Kafka, logLevel } from 'kafkajs'
import { openKafkaEventLog, type KafkaEventLogOptions } from '../event-log/kafka/kafka-event-log.ts'
import { createLogger } from '../observability/logger.ts'
import { contractTopics, type EventLogUnderTest } from './event-log-contract.ts'

export const testBrokers = process.env['TOLLGATE_TEST_KAFKA_BROKERS']?.split(',')

/** Creates a log with separate topics and groups, which are deleted afterwards. */
export async function createKafkaLog(): Promise<EventLogUnderTest> {
  const options = kafkaOptions(testBrokers!)
  const { writer: _, ...readerOptions } = options
  const log = await openKafkaEventLog(options)
  let current = log
  return {
    log,
    openReader: () => openKafkaEventLog(readerOptions),
    reopen: async () => {
      await current.close()
      current = await openKafkaEventLog(options)
      return current
    },
    destroy: async () => {
      await current.close()
      await deleteTopics(testBrokers!, options.namePrefix)
    },
  }
}

export function kafkaOptions(brokers: readonly string[], namePrefix = `${randomUUID()}.`) {
  return {
    connection: { brokers },
    namePrefix,
    topics: Object.keys(contractTopics),
    writer: {
      partitionCounts: contractTopics,
      replicationFactor: 1,
      minInSyncReplicas: 1,
      deliveryTimeoutMs: 10_000,
    },
    groupTimeouts: { sessionTimeoutMs: 6_000, rebalanceTimeoutMs: 6_000 },
    answerWithinMs: 5_000,
    logger: createLogger('test', process.env['TOLLGATE_TEST_LOG_LEVEL'] ?? 'fatal'),
  } satisfies KafkaEventLogOptions
}

/** Returns the smallest number of in-sync replicas of any partition, as this broker knows it. */
export async function copiesInSync(broker: string, topic: string): Promise<number> {
  const admin = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    return Math.min(...topics.flatMap(({ partitions }) => partitions.map(({ isr }) => isr.length)))
  } finally {
    await admin.disconnect()
  }
}

/** Adds partitions to the topic until it has `count`. */
export async function addPartitions(
  brokers: readonly string[],
  topic: string,
  count: number,
): Promise<void> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  await admin.createPartitions({ topicPartitions: [{ topic, count }] })
  await admin.disconnect()
}

/** Makes the brokers compress batches of the topic with that codec again. All other settings of the topic get their defaults. */
export async function setBrokerCompression(
  brokers: readonly string[],
  topic: string,
  codec: string,
): Promise<void> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const configEntries = [{ name: 'compression.type', value: codec }]
  await admin.alterConfigs({
    validateOnly: false,
    // Node does not find this named export in the CommonJS package.
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configEntries }],
  })
  await admin.disconnect()
}

/** Deletes the topics with the prefix. Groups without members and topics expire by themselves. */
export async function deleteTopics(brokers: readonly string[], namePrefix: string): Promise<void> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  for (let attempt = 1; ; attempt += 1) {
    try {
      const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(namePrefix))
      if (topics.length > 0) await admin.deleteTopics({ topics })
      break
    } catch (error) {
      // Listing fails while another suite deletes its topics.
      if (attempt === 10) throw error
      await sleep(200)
    }
  }
  await admin.disconnect()
}
