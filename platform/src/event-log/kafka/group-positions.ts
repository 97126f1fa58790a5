import type { GroupPosition } from '../event-log.ts'
import { retryUntilAnswered } from './request-from-leader.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import type { CommittedOffset, KafkajsBroker } from './kafkajs-internals.ts'
import { NextRequest } from './next-request.ts'
import type { TopicPartition } from './wire/requests.ts'

export const startPosition: GroupPosition = { offset: 0, note: '' }

/** Reads positions of groups from their coordinators. The caller need not be a member. */
export class GroupPositions {
  readonly #cluster: KafkaCluster
  readonly #answerWithinMs: number
  readonly #groups = new Map<string, NextRequest<TopicPartition, GroupPosition>>()

  constructor(cluster: KafkaCluster, answerWithinMs: number) {
    this.#cluster = cluster
    this.#answerWithinMs = answerWithinMs
  }

  read(group: string, at: TopicPartition): Promise<GroupPosition> {
    return retryUntilAnswered(this.#answerWithinMs, () => this.#of(group).ask(at))
  }

  #of(group: string): NextRequest<TopicPartition, GroupPosition> {
    let next = this.#groups.get(group)
    if (next === undefined) {
      next = new NextRequest(keyOf, (questions) => this.#fetch(group, questions))
      this.#groups.set(group, next)
    }
    return next
  }

  async #fetch(group: string, questions: readonly TopicPartition[]) {
    try {
      return await fetchPositions(await this.#cluster.coordinatorOf(group), group, questions)
    } catch (error) {
      this.#cluster.forgetCoordinator(group)
      throw error
    }
  }
}

/** Returns the positions by `topic/partition`. */
export async function fetchPositions(
  coordinator: KafkajsBroker,
  groupId: string,
  partitions: readonly TopicPartition[],
): Promise<Map<string, GroupPosition>> {
  const { responses } = await coordinator.offsetFetch({ groupId, topics: byTopic(partitions) })
  return new Map(
    responses.flatMap(({ topic, partitions: ofTopic }) =>
      ofTopic.map(
        (each) => [keyOf({ topic, partition: each.partition }), positionOf(each)] as const,
      ),
    ),
  )
}

function positionOf({ offset, metadata }: CommittedOffset): GroupPosition {
  const number = Number(offset)
  return number < 0 ? startPosition : { offset: number, note: metadata ?? '' }
}

function byTopic(partitions: readonly TopicPartition[]) {
  const topics = new Map<string, { partition: number }[]>()
  for (const { topic, partition } of partitions) {
    const ofTopic = topics.get(topic) ?? []
    ofTopic.push({ partition })
    topics.set(topic, ofTopic)
  }
  return [...topics].map(([topic, ofTopic]) => ({ topic, partitions: ofTopic }))
}

export function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`
}
