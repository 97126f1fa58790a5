import type { KafkaCluster } from './kafka-cluster.ts'
import { kafkaErrorType } from './kafkajs-internals.ts'

export type TopicPlan = {
  /** Number of partitions by topic. */
  readonly partitionCounts: Readonly<Record<string, number>>
  readonly replicationFactor: number
  readonly minInSyncReplicas: number
}

/** Timeout of the controller. The topics may be created even if it takes longer. */
const timeoutMs = 4_000

/** Creates the topics. Topics that another process has created in the meantime are left as they are. */
export async function createTopics(
  cluster: KafkaCluster,
  partitionCounts: Readonly<Record<string, number>>,
  plan: Omit<TopicPlan, 'partitionCounts'>,
): Promise<void> {
  const configEntries = [
    { name: 'min.insync.replicas', value: String(plan.minInSyncReplicas) },
    { name: 'unclean.leader.election.enable', value: 'false' },
    { name: 'cleanup.policy', value: 'delete' },
    // The writer trims the log behind its consumers. Age alone must not delete records.
    { name: 'retention.ms', value: '-1' },
    { name: 'retention.bytes', value: '-1' },
    // The receive time comes from our clocks. A broker whose clock is late must not refuse records.
    { name: 'message.timestamp.type', value: 'CreateTime' },
    { name: 'message.timestamp.after.max.ms', value: String(2n ** 63n - 1n) },
    { name: 'compression.type', value: 'producer' },
  ]
  const topics = Object.entries(partitionCounts).map(([topic, numPartitions]) => {
    return { topic, numPartitions, replicationFactor: plan.replicationFactor, configEntries }
  })
  const controller = await cluster.controller()
  try {
    await controller.createTopics({ topics, timeout: timeoutMs })
  } catch (error) {
    if (!isAlreadyThere(error)) throw error
  }
}

/** Returns whether all topics already exist. kafkajs reports several topics with one error that contains the others. */
function isAlreadyThere(error: unknown): boolean {
  const each = error instanceof Error && 'errors' in error ? (error.errors as unknown[]) : [error]
  return each.every((one) => kafkaErrorType(one) === 'TOPIC_ALREADY_EXISTS')
}

/** A topic has another number of partitions than configured. Records of one subject would be in two partitions. */
export class PartitionCountError extends Error {
  override readonly name = 'PartitionCountError'

  constructor(topic: string, configured: number, found: number) {
    super(
      `The topic ${topic} has ${found} partitions, but ${configured} are configured. The number is fixed when the topic is made.`,
    )
  }
}
