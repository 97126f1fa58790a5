import { openKafkaEventLog } from '@tollgate/platform/event-log/kafka/kafka-event-log'
import { createLogger } from '@tollgate/platform/observability/logger'
import type { ClientLog } from './client-log.ts'

const timeoutMs = 10_000

/** Opens the log as the services do. Creates the topic like the topics of usage if it does not exist. */
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
