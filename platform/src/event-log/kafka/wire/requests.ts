import type { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'

/*
 * Requests for reading and writing records, in versions that Kafka 2.3 to 4.x support. kafkajs has them too, but it takes 9 µs to
 * encode a record and 3 µs to decode one, and for a response with several partitions it throws the first error and drops the rest.
 */

/** A request that is sent through kafkajs. */
export type WireRequest<Response> = {
  readonly apiKey: number
  readonly apiName: string
  readonly apiVersion: number
  readonly body: ByteWriter
  readonly read: (reader: ByteReader) => Response
}

export type TopicPartition = { readonly topic: string; readonly partition: number }

/** A leader's result for one partition. Error code 0 means no error. */
export type PartitionResult = TopicPartition & { readonly errorCode: number }

export type ProduceResult = PartitionResult & { readonly baseOffset: number }

export function produceRequest(
  batches: readonly (TopicPartition & { readonly batch: Uint8Array })[],
  timeoutMs: number,
): WireRequest<ProduceResult[]> {
  const allInSyncReplicas = -1
  const bytes = batches.reduce((sum, { batch }) => sum + batch.byteLength + 64, 64)
  const body = new ByteWriter(bytes).text(null).int16(allInSyncReplicas).int32(timeoutMs)
  writeTopics(body, batches, ({ partition, batch }) => {
    body.int32(partition).int32(batch.byteLength).raw(batch)
  })
  return {
    apiKey: 0,
    apiName: 'Produce',
    apiVersion: 7,
    body,
    read: (reader) =>
      readPartitions(reader, (topic) => {
        const partition = reader.int32()
        const errorCode = reader.int16()
        const baseOffset = reader.int64()
        reader.skip(8 + 8) // log append time, log start offset
        return { topic, partition, errorCode, baseOffset }
      }),
  }
}

export type FetchResult = PartitionResult & {
  /** Offset after the last record that consumers may see. */
  readonly highWatermark: number
  readonly batches: Buffer
}

export type FetchLimits = {
  /** How long the leader waits if there is no record, in milliseconds. */
  readonly waitMs: number
  readonly bytesMax: number
}

export function fetchRequest(
  partitions: readonly (TopicPartition & {
    readonly fromOffset: number
    readonly bytesMax: number
  })[],
  { waitMs, bytesMax }: FetchLimits,
): WireRequest<FetchResult[]> {
  const body = new ByteWriter()
    .int32(consumer)
    .int32(waitMs)
    .int32(1) // least bytes
    .int32(bytesMax)
    .int8(readUncommitted)
    .int32(0) // no session
    .int32(-1)
  writeTopics(body, partitions, (each) => {
    body.int32(each.partition).int32(anyEpoch).int64(each.fromOffset).int64(-1).int32(each.bytesMax)
  })
  body.int32(0).text('') // nothing forgotten, no rack
  return {
    apiKey: 1,
    apiName: 'Fetch',
    apiVersion: 11,
    body,
    read: (reader) => {
      reader.skip(4 + 2 + 4) // throttle time, error and id of the session
      return readPartitions(reader, (topic) => {
        const partition = reader.int32()
        const errorCode = reader.int16()
        const highWatermark = reader.int64()
        reader.skip(8 + 8) // last stable offset, log start offset
        reader.array(() => reader.skip(8 + 8)) // aborted transactions
        reader.skip(4) // preferred replica
        const batches = reader.raw(Math.max(0, reader.int32()))
        return { topic, partition, errorCode, highWatermark, batches }
      })
    },
  }
}

export type OffsetResult = PartitionResult & {
  /** Offset, or -1 if no record is at or after the requested time. */
  readonly offset: number
}

/** Timestamps with a special meaning. */
export const latest = -1
export const earliest = -2

export type OffsetQuestion = TopicPartition & {
  readonly timestampMs: number
  /** Epoch of the expected leader. A broker that knows another epoch refuses. Undefined accepts any. */
  readonly leaderEpoch?: number | undefined
}

/** Requests the end, the start, or the first offset at or after a time in Unix milliseconds. */
export function listOffsetsRequest(
  partitions: readonly OffsetQuestion[],
): WireRequest<OffsetResult[]> {
  const body = new ByteWriter().int32(consumer).int8(readUncommitted)
  writeTopics(body, partitions, ({ partition, timestampMs, leaderEpoch = anyEpoch }) => {
    body.int32(partition).int32(leaderEpoch).int64(timestampMs)
  })
  return {
    apiKey: 2,
    apiName: 'ListOffsets',
    apiVersion: 5,
    body,
    read: (reader) => {
      reader.skip(4) // throttle time
      return readPartitions(reader, (topic) => {
        const partition = reader.int32()
        const errorCode = reader.int16()
        reader.skip(8) // timestamp
        const offset = reader.int64()
        reader.skip(4) // leader epoch
        return { topic, partition, errorCode, offset }
      })
    },
  }
}

/** Requests the deletion of the records below `offset`. */
export function deleteRecordsRequest(
  partitions: readonly (TopicPartition & { readonly offset: number })[],
  timeoutMs: number,
): WireRequest<PartitionResult[]> {
  const body = new ByteWriter()
  writeTopics(body, partitions, ({ partition, offset }) => body.int32(partition).int64(offset))
  body.int32(timeoutMs)
  return {
    apiKey: 21,
    apiName: 'DeleteRecords',
    apiVersion: 1,
    body,
    read: (reader) => {
      reader.skip(4) // throttle time
      return readPartitions(reader, (topic) => {
        const partition = reader.int32()
        reader.skip(8) // log start offset
        return { topic, partition, errorCode: reader.int16() }
      })
    },
  }
}

export type Metadata = {
  readonly brokers: readonly { readonly nodeId: number; readonly address: string }[]
  readonly controllerId: number
  /** Partitions of the topics that exist and that we may see. */
  readonly partitions: readonly PartitionState[]
}

export type PartitionState = TopicPartition & {
  /** Node id of the leader; negative if there is none. */
  readonly leader: number
  /** Increases with every new leader. */
  readonly leaderEpoch: number
  /** Node ids of the other replicas. */
  readonly followers: readonly number[]
  readonly inSyncCount: number
}

/** Requests the leaders of all partitions. Unlike with kafkajs, a partition without a leader does not hide the others. */
export function metadataRequest(topics: readonly string[]): WireRequest<Metadata> {
  const body = new ByteWriter()
  body.array(topics, (topic) => body.text(topic)).int8(0) // topics are not made by asking
  return {
    apiKey: 3,
    apiName: 'Metadata',
    apiVersion: 7,
    body,
    read: (reader) => {
      reader.skip(4) // throttle time
      const brokers = reader.array(() => {
        const nodeId = reader.int32()
        const address = `${reader.text()}:${reader.int32()}`
        reader.text() // rack
        return { nodeId, address }
      })
      reader.text() // id of the cluster
      const controllerId = reader.int32()
      const partitions = reader.array(() => readTopic(reader)).flat()
      return { brokers, controllerId, partitions }
    },
  }
}

function readTopic(reader: ByteReader): PartitionState[] {
  reader.skip(2) // an error that the absence of partitions tells as well
  const topic = reader.text()
  reader.skip(1) // internal
  return reader.array(() => {
    reader.skip(2) // an error that the absence of a leader tells as well
    const partition = reader.int32()
    const leader = reader.int32()
    const leaderEpoch = reader.int32()
    const replicas = reader.array(() => reader.int32())
    const inSyncCount = reader.array(() => reader.int32()).length
    reader.array(() => reader.int32()) // offline replicas
    const followers = replicas.filter((broker) => broker !== leader)
    return { topic, partition, leader, leaderEpoch, followers, inSyncCount }
  })
}

const consumer = -1
const readUncommitted = 0
const anyEpoch = -1

function writeTopics<Item extends TopicPartition>(
  body: ByteWriter,
  items: readonly Item[],
  write: (item: Item) => void,
): void {
  const byTopic = new Map<string, Item[]>()
  for (const item of items) {
    const sameTopic = byTopic.get(item.topic)
    if (sameTopic === undefined) byTopic.set(item.topic, [item])
    else sameTopic.push(item)
  }
  body.array([...byTopic], ([topic, ofTopic]) => body.text(topic).array(ofTopic, write))
}

function readPartitions<Result>(reader: ByteReader, read: (topic: string) => Result): Result[] {
  return reader
    .array(() => {
      const topic = reader.text()
      return reader.array(() => read(topic))
    })
    .flat()
}
