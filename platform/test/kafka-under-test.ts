import { randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import {
  openKafkaEventLog,
  type KafkaEventLogOptions,
} from '../src/event-log/kafka/kafka-event-log.ts'
import { createLogger } from '../src/observability/logger.ts'
import { contractTopics, type EventLogUnderTest } from '../src/testing/event-log-contract.ts'

export const testBrokers = process.env['TOLLGATE_TEST_KAFKA_BROKERS']?.split(',')

/** A log on topics and groups of its own, which are deleted afterwards. */
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
      await deleteNames(options)
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

export async function deleteNames({ connection, namePrefix }: KafkaEventLogOptions): Promise<void> {
  const admin = new Kafka({
    brokers: [...connection.brokers],
    logLevel: logLevel.NOTHING,
  }).admin()
  await admin.connect()
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(namePrefix))
  await admin.deleteTopics({ topics })
  await admin.disconnect()
}
