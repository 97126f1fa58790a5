import type { KafkaCluster } from './kafka-cluster.ts'
import { kafkaErrorType } from './kafkajs-internals.ts'

export type TopicPlan = {
  /** Partition count by topic. */
  readonly partitionCounts: Readonly<Record<string, number>>
  readonly replicationFactor: number
  readonly minInSyncReplicas: number
}

/** How long the controller may take; the topics may be there all the same when it takes longer. */
const timeoutMs = 4_000

/** Makes the topics. Those that another process has made in the meantime are taken as they are. */
export async function createTopics(
  cluster: KafkaCluster,
  partitionCounts: Readonly<Record<string, number>>,
  plan: Omit<TopicPlan, 'partitionCounts'>,
): Promise<void> {
  const configEntries = [
    { name: 'min.insync.replicas', value: String(plan.minInSyncReplicas) },
    { name: 'unclean.leader.election.enable', value: 'false' },
    { name: 'cleanup.policy', value: 'delete' },
    // The log is trimmed behind its consumers, by whoever writes it: age alone must delete nothing.
    { name: 'retention.ms', value: '-1' },
    { name: 'retention.bytes', value: '-1' },
    // The receive time is of our clocks. A broker whose clock is behind must not refuse usage for it.
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

/** kafkajs tells of several topics with one error that holds the others. */
function isAlreadyThere(error: unknown): boolean {
  const each = error instanceof Error && 'errors' in error ? (error.errors as unknown[]) : [error]
  return each.every((one) => kafkaErrorType(one) === 'TOPIC_ALREADY_EXISTS')
}

/** A topic has another number of partitions than is configured, and records of one subject would be in two of them. */
export class PartitionCountError extends Error {
  override readonly name = 'PartitionCountError'

  constructor(topic: string, configured: number, found: number) {
    super(
      `The topic ${topic} has ${found} partitions, but ${configured} are configured. The number is fixed when the topic is made.`,
    )
  }
}
