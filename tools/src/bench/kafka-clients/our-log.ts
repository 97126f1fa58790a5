import { openKafkaEventLog } from '@tollgate/platform/event-log/kafka/kafka-event-log'
import { createLogger } from '@tollgate/platform/observability/logger'
import type { ClientLog } from './client-log.ts'

const timeoutMs = 10_000

/** The log as the services have it. Makes the topic, as the topics of usage are made, if it is not there. */
export async function openOurLog(
  brokers: readonly string[],
  topic: string,
  partitions: number,
): Promise<ClientLog> {
  const log = await openKafkaEventLog({
    connection: { brokers },
    namePrefix: '',
    topics: [topic],
    writer: {
      partitionCounts: { [topic]: partitions },
      replicationFactor: brokers.length,
      minInSyncReplicas: brokers.length > 1 ? 2 : 1,
      deliveryTimeoutMs: timeoutMs,
    },
    groupTimeouts: { sessionTimeoutMs: timeoutMs, rebalanceTimeoutMs: timeoutMs },
    answerWithinMs: timeoutMs,
    logger: createLogger('bench', 'silent'),
  })
  return {
    append: (...record) => log.append(...record),
    reader: log,
    close: () => log.close(),
  }
}
