import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type ConsumerInfo,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import type { BusConfig } from './bus-settings.ts'

const dayMs = 86_400_000
/** The default of NATS, 2 minutes. A longer window costs memory, and the log deduplicates repeated messages anyway. */
const duplicateWindowMs = 120_000

/**
 * Creates the stream and its durable consumer if they do not exist. Throws an Error that says what to change if the existing ones
 * cannot be used.
 */
export async function ensureStream(
  manager: JetStreamManager,
  config: BusConfig,
  subjects: readonly string[],
): Promise<void> {
  const { natsStream: stream, natsGroup: durable } = config
  const found = await orMissing(manager.streams.info(stream), JetStreamApiCodes.StreamNotFound)
  if (found === undefined) {
    await manager.streams.add({
      name: stream,
      subjects: [...subjects],
      storage: StorageType.File,
      // Not a work queue: after a crash of the server, a work queue can keep messages that were already acknowledged.
      retention: RetentionPolicy.Limits,
      // A publisher gets an error when the stream is full. The alternative would silently delete the oldest messages.
      discard: DiscardPolicy.New,
      max_age: nanos(config.natsStreamDays * dayMs),
      max_bytes: config.natsStreamBytesMax,
      num_replicas: config.natsStreamReplicas,
      duplicate_window: nanos(duplicateWindowMs),
    })
  } else requireUsableStream(found, subjects)
  const consumer = await orMissing(
    manager.consumers.info(stream, durable),
    JetStreamApiCodes.ConsumerNotFound,
  )
  const limits = {
    ack_wait: nanos(config.natsAckWaitMs),
    max_ack_pending: config.natsUnacknowledgedMax,
  }
  if (consumer === undefined) {
    await manager.consumers.add(stream, {
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      // Attempts are unlimited: a message that used them up during an outage of the log would never be delivered again.
      max_deliver: -1,
      ...limits,
    })
    return
  }
  requireUsableConsumer(consumer)
  const { ack_wait, max_ack_pending } = consumer.config
  if (ack_wait !== limits.ack_wait || max_ack_pending !== limits.max_ack_pending) {
    await manager.consumers.update(stream, durable, limits)
  }
}

function requireUsableStream(
  { config: { name, subjects } }: StreamInfo,
  wanted: readonly string[],
): void {
  const others = subjects.filter((each) => !/^[^.>]+\.meter\.record(Bulk)?$/.test(each))
  if (others.length > 0) {
    throw new Error(
      `The stream ${name} stores other subjects too (${others.join(', ')}): name a stream of its own in TOLLGATE_NATS_STREAM`,
    )
  }
  const missing = wanted.filter(
    (each) => !subjects.includes(each) && !subjects.includes(each.replace(/^[^.]+/, '*')),
  )
  if (missing.length > 0) {
    throw new Error(
      `The stream ${name} does not store ${missing.join(', ')}: add it to its subjects`,
    )
  }
}

function requireUsableConsumer({ stream_name, name, config }: ConsumerInfo): void {
  const isPull = config.deliver_subject === undefined
  const isEndless = (config.max_deliver ?? -1) < 0
  if (isPull && isEndless && config.ack_policy === AckPolicy.Explicit) return
  throw new Error(
    `The consumer ${name} of the stream ${stream_name} must be a pull consumer with explicit acknowledgement and no max_deliver: ` +
      'delete it, and it is created again, or name another in TOLLGATE_NATS_GROUP',
  )
}

async function orMissing<Info>(info: Promise<Info>, code: number): Promise<Info | undefined> {
  try {
    return await info
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === code) return undefined
    throw error
  }
}
