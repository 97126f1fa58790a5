import type { TopicPartition } from './wire/requests.ts'

/** A member of a group, and the partitions it owned before the rebalance. */
export type Candidate = {
  readonly memberId: string
  readonly owned: readonly TopicPartition[]
}

/**
 * Assigns every partition to one member. The numbers of partitions per member differ by at most one, within each topic and in
 * total. A member keeps its partitions as far as that allows, because a moved partition must be started again elsewhere.
 */
export function assignPartitions(
  candidates: readonly Candidate[],
  topics: Readonly<Record<string, number>>,
): Map<string, TopicPartition[]> {
  const members = [...candidates].sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
  const assignment = new Map(members.map(({ memberId }) => [memberId, [] as TopicPartition[]]))
  for (const [topic, partitionCount] of Object.entries(topics)) {
    assignTopic(members, topic, partitionCount, assignment)
  }
  return assignment
}

function assignTopic(
  members: readonly Candidate[],
  topic: string,
  partitionCount: number,
  assignment: Map<string, TopicPartition[]>,
): void {
  const free = new Set(Array.from({ length: partitionCount }, (_, partition) => partition))
  const quotas = quotasOf(members, topic, partitionCount, assignment)
  for (const { memberId, owned } of members) {
    const own = assignment.get(memberId)!
    for (const { topic: ofTopic, partition } of owned) {
      if (ofTopic !== topic || quotas.get(memberId) === 0 || !free.delete(partition)) continue
      own.push({ topic, partition })
      quotas.set(memberId, quotas.get(memberId)! - 1)
    }
  }
  for (const partition of free) {
    const { memberId } = members.find((member) => quotas.get(member.memberId)! > 0)!
    assignment.get(memberId)!.push({ topic, partition })
    quotas.set(memberId, quotas.get(memberId)! - 1)
  }
}

/**
 * Returns the number of partitions of the topic for each member. If they do not divide evenly, the members with the fewest
 * partitions of earlier topics get one more.
 */
function quotasOf(
  members: readonly Candidate[],
  topic: string,
  partitionCount: number,
  assignment: ReadonlyMap<string, readonly TopicPartition[]>,
): Map<string, number> {
  const base = Math.floor(partitionCount / members.length)
  const extra = partitionCount % members.length
  const ownedCount = ({ owned }: Candidate) => owned.filter((each) => each.topic === topic).length
  const byNeed = [...members].sort(
    (a, b) =>
      assignment.get(a.memberId)!.length - assignment.get(b.memberId)!.length ||
      ownedCount(b) - ownedCount(a),
  )
  return new Map(byNeed.map(({ memberId }, index) => [memberId, base + (index < extra ? 1 : 0)]))
}
