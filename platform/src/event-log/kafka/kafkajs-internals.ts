import type { Cluster, ITopicConfig, Kafka } from 'kafkajs'
import { ByteReader } from './wire/byte-reader.ts'
import type { WireRequest } from './wire/requests.ts'

/*
 * All uses of kafkajs that its type declarations do not cover. The version is pinned, and kafkajs has had no release since 2023. If
 * any of this changed, every test of the contract suite would fail.
 */

/** A broker of kafkajs, with the requests that we leave to it. Each rejects with an error that `kafkaErrorType` can read. */
export type KafkajsBroker = {
  readonly connectionPool: {
    getConnection(index: number): Promise<{
      send<Response>(request: KafkajsRequest<Response>): Promise<Response>
    }>
  }
  createTopics(request: {
    readonly topics: readonly ITopicConfig[]
    readonly timeout: number
  }): Promise<unknown>
  describeConfigs(request: {
    readonly resources: readonly {
      readonly type: number
      readonly name: string
      readonly configNames: readonly string[]
    }[]
  }): Promise<{
    readonly resources: readonly {
      readonly configEntries: readonly {
        readonly configName: string
        readonly configValue: string | null
      }[]
    }[]
  }>
  initProducerId(request: {
    readonly transactionTimeout: number
  }): Promise<{ readonly producerId: string; readonly producerEpoch: number }>
  findGroupCoordinator(request: {
    readonly groupId: string
    readonly coordinatorType: number
  }): Promise<{ readonly coordinator: { readonly nodeId: number } }>
  joinGroup(request: {
    readonly groupId: string
    readonly sessionTimeout: number
    readonly rebalanceTimeout: number
    readonly memberId: string
    readonly groupProtocols: readonly { readonly name: string; readonly metadata: Buffer }[]
  }): Promise<{
    readonly generationId: number
    readonly leaderId: string
    readonly memberId: string
    readonly members: readonly { readonly memberId: string; readonly memberMetadata: Buffer }[]
  }>
  syncGroup(request: {
    readonly groupId: string
    readonly generationId: number
    readonly memberId: string
    readonly groupAssignment: readonly {
      readonly memberId: string
      readonly memberAssignment: Buffer
    }[]
  }): Promise<{ readonly memberAssignment: Buffer }>
  heartbeat(request: GroupIdentity): Promise<unknown>
  leaveGroup(request: { readonly groupId: string; readonly memberId: string }): Promise<unknown>
  offsetFetch(request: {
    readonly groupId: string
    readonly topics: readonly TopicOf<{ readonly partition: number }>[]
  }): Promise<{ readonly responses: readonly TopicOf<CommittedOffset>[] }>
  offsetCommit(
    request: GroupIdentity & { readonly topics: readonly TopicOf<CommittedOffset>[] },
  ): Promise<unknown>
}

type GroupIdentity = {
  readonly groupId: string
  readonly groupGenerationId: number
  readonly memberId: string
}

type TopicOf<Partition> = { readonly topic: string; readonly partitions: readonly Partition[] }

/** The offset is -1 if the group has committed nothing. */
export type CommittedOffset = {
  readonly partition: number
  readonly offset: string
  readonly metadata: string | null
}

type KafkajsRequest<Response> = {
  readonly request: {
    readonly apiKey: number
    readonly apiName: string
    readonly apiVersion: number
    /** kafkajs reads both properties. */
    readonly encode: () => Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>
  }
  readonly response: {
    readonly decode: (payload: Buffer) => Promise<Response>
    readonly parse: (decoded: Response) => Promise<Response>
  }
}

export function toKafkajsRequest<Response>({
  apiKey,
  apiName,
  apiVersion,
  body,
  read,
}: WireRequest<Response>): KafkajsRequest<Response> {
  return {
    request: {
      apiKey,
      apiName,
      apiVersion,
      encode: async () => ({ buf: body.bytes, buffer: body.bytes }),
    },
    response: {
      decode: async (payload) => read(new ByteReader(payload)),
      parse: async (decoded) => decoded,
    },
  }
}

/**
 * Returns a function that connects to the one broker of the client's configuration.
 *
 * kafkajs exposes its cluster only to partition assigners, which are created with a consumer. This consumer never connects or
 * joins.
 */
export function onlyBrokerOf(kafka: Kafka): () => Promise<KafkajsBroker> {
  let cluster: (Cluster & ClusterInternals) | undefined
  kafka.consumer({
    groupId: 'never-joined',
    partitionAssigners: [
      (given) => {
        cluster = given.cluster as Cluster & ClusterInternals
        return {
          name: 'none',
          version: 0,
          assign: async () => [],
          protocol: () => ({ name: 'none', metadata: Buffer.alloc(0) }),
        }
      },
    ],
  })
  return async () => {
    if (cluster === undefined) throw new Error('kafkajs made a consumer without its assigners.')
    await cluster.connect()
    return cluster.brokerPool.seedBroker
  }
}

type ClusterInternals = {
  readonly brokerPool: { readonly seedBroker: KafkajsBroker }
}

/** Returns Kafka's name of the error, from anywhere in the chain of causes. */
export function kafkaErrorType(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    if ('type' in each && typeof each.type === 'string') return each.type
  }
  return undefined
}
