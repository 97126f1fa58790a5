/** Kafka's error codes that are handled here. */
export const errorCode = {
  none: 0,
  offsetOutOfRange: 1,
  corruptMessage: 2,
  unknownTopicOrPartition: 3,
  leaderNotAvailable: 5,
  notLeader: 6,
  requestTimedOut: 7,
  brokerNotAvailable: 8,
  replicaNotAvailable: 9,
  networkException: 13,
  notEnoughReplicas: 19,
  notEnoughReplicasAfterAppend: 20,
  outOfOrderSequence: 45,
  invalidProducerEpoch: 47,
  storageError: 56,
  unknownProducerId: 59,
  fencedLeaderEpoch: 74,
  unknownLeaderEpoch: 75,
  offsetNotAvailable: 78,
} as const

const passing: ReadonlySet<number> = new Set([
  errorCode.corruptMessage,
  errorCode.unknownTopicOrPartition,
  errorCode.leaderNotAvailable,
  errorCode.notLeader,
  errorCode.requestTimedOut,
  errorCode.brokerNotAvailable,
  errorCode.replicaNotAvailable,
  errorCode.networkException,
  errorCode.notEnoughReplicas,
  errorCode.notEnoughReplicasAfterAppend,
  errorCode.storageError,
  errorCode.fencedLeaderEpoch,
  errorCode.unknownLeaderEpoch,
  errorCode.offsetNotAvailable,
])

/** Returns whether the same request may succeed later, perhaps at another leader. */
export function isRetriable(code: number): boolean {
  return passing.has(code)
}

const forgotten: ReadonlySet<number> = new Set([
  errorCode.outOfOrderSequence,
  errorCode.invalidProducerEpoch,
  errorCode.unknownProducerId,
])

/** Returns whether the broker no longer knows the producer. The batch was not stored, and must be sent by a new producer. */
export function isProducerForgotten(code: number): boolean {
  return forgotten.has(code)
}

export function describeCode(code: number): string {
  const name = Object.entries(errorCode).find(([, each]) => each === code)?.[0]
  return name === undefined ? `Kafka's error ${code}` : `${name} (Kafka's error ${code})`
}
