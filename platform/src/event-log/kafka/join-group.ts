import { randomUUID } from 'node:crypto'
import { AssignerProtocol } from 'kafkajs'
import { assignPartitions, type Candidate } from './assign-partitions.ts'
import type { KafkajsBroker } from './kafkajs-internals.ts'
import type { TopicPartition } from './wire/requests.ts'

export type GroupTimeouts = {
  /** Without a heartbeat for this long, a member is removed and its partitions go to the others. */
  readonly sessionTimeoutMs: number
  /** How long a rebalance waits for the members. A late member is removed. */
  readonly rebalanceTimeoutMs: number
}

export type JoinRequest = GroupTimeouts & {
  readonly groupId: string
  /** Number of partitions by topic; identical at every member. */
  readonly topics: Readonly<Record<string, number>>
  /** Id of the member; empty for a new one. */
  readonly memberId: string
  readonly owned: readonly TopicPartition[]
}

/** One generation of the group, between two rebalances. */
export type Generation = {
  readonly generationId: number
  /** Id of this member, which it must use to rejoin. */
  readonly memberId: string
  /** All members, if this member is the leader that assigns; empty for the others. */
  readonly candidates: readonly Candidate[]
}

const assignerName = 'tollgate-sticky'
const assignerVersion = 1

/** Joins the group, and waits until all members have joined. */
export async function joinGeneration(
  coordinator: KafkajsBroker,
  request: JoinRequest,
): Promise<Generation> {
  const { generationId, memberId, members } = await coordinator.joinGroup({
    groupId: request.groupId,
    sessionTimeout: request.sessionTimeoutMs,
    rebalanceTimeout: request.rebalanceTimeoutMs,
    memberId: request.memberId,
    groupProtocols: [
      { name: assignerName, metadata: writeMetadata(request.topics, request.owned) },
    ],
  })
  const candidates = members.map((member): Candidate => {
    return { memberId: member.memberId, owned: readOwned(member.memberMetadata) }
  })
  return { generationId, memberId, candidates }
}

/** Assigns the partitions if this member is the leader. Returns the partitions of this member. */
export async function syncAssignment(
  coordinator: KafkajsBroker,
  { groupId, topics }: JoinRequest,
  { generationId, memberId, candidates }: Generation,
): Promise<TopicPartition[]> {
  const groupAssignment =
    candidates.length === 0 ? [] : writeAssignments(assignPartitions(candidates, topics))
  const { memberAssignment } = await coordinator.syncGroup({
    groupId,
    generationId,
    memberId,
    groupAssignment,
  })
  return readAssignment(memberAssignment)
}

/**
 * Returns the metadata of a member. It differs each time: with the metadata of its last join, the coordinator would return the running
 * generation to a member that joins again, and not store a new one. The additional entry is a topic that is never assigned.
 */
function writeMetadata(
  topics: Readonly<Record<string, number>>,
  owned: readonly TopicPartition[],
): Buffer {
  return AssignerProtocol.MemberMetadata.encode({
    version: assignerVersion,
    topics: Object.keys(topics),
    userData: Buffer.from(JSON.stringify([...owned, { topic: randomUUID(), partition: 0 }])),
  })
}

function readOwned(metadata: Buffer): TopicPartition[] {
  const userData = AssignerProtocol.MemberMetadata.decode(metadata)?.userData
  return JSON.parse(userData?.toString() ?? '[]') as TopicPartition[]
}

function writeAssignments(assignment: ReadonlyMap<string, readonly TopicPartition[]>) {
  return [...assignment].map(([memberId, partitions]) => {
    const byTopic: Record<string, number[]> = {}
    for (const { topic, partition } of partitions) (byTopic[topic] ??= []).push(partition)
    return {
      memberId,
      memberAssignment: AssignerProtocol.MemberAssignment.encode({
        version: assignerVersion,
        assignment: byTopic,
        userData: Buffer.alloc(0),
      }),
    }
  })
}

function readAssignment(memberAssignment: Buffer): TopicPartition[] {
  const assignment = AssignerProtocol.MemberAssignment.decode(memberAssignment)?.assignment ?? {}
  return Object.entries(assignment).flatMap(([topic, partitions]) =>
    partitions.map((partition) => ({ topic, partition })),
  )
}
