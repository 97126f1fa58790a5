import { setTimeout as sleep } from 'node:timers/promises'
import {
  jetstream,
  jetstreamManager,
  type Consumer,
  type ConsumerMessages,
  type JsMsg,
} from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { Batches } from './batches.ts'
import { nameOfMessageId, type BusMessage } from './bus-message.ts'
import type { ConsumerParts, RunningConsumer } from './consumer-parts.ts'
import { ensureStream } from './ensure-stream.ts'
import { retryDelayMs } from './retry-delay.ts'

/** Milliseconds that the server keeps a request for messages open. */
const pullMs = 5_000
/** Milliseconds after which an expired request is abandoned: the server that held it may have been killed. */
const pullGraceMs = 5_000
/** Milliseconds without a new request after the log refused an append. */
const pauseMs = 1_000

/**
 * Consumes the stream with a durable pull consumer. A message is acknowledged once the log has its items. Until then the server
 * delivers it again, to any process of the consumer group. The consumer requests only as many messages as this process may hold.
 * Otherwise messages would wait in the client while their acknowledgement deadline runs out.
 */
export async function consumeStream(
  connection: NatsConnection,
  parts: ConsumerParts,
): Promise<RunningConsumer> {
  const { config, subjects } = parts
  await ensureStream(await jetstreamManager(connection), config, subjects)
  const consumer = await jetstream(connection).consumers.get(config.natsStream, config.natsGroup)
  const running = new StreamConsumer(consumer, connection.info?.max_payload ?? 1_048_576, parts)
  return { ended: running.run(), stop: (graceMs) => running.stop(graceMs) }
}

class StreamConsumer {
  readonly #consumer: Consumer
  readonly #messageBytesMax: number
  readonly #parts: ConsumerParts
  readonly #batches: Batches<JsMsg>
  /** Messages that were received and are not finished. */
  readonly #working = new Set<JsMsg>()
  #isStopping = false
  #pausedUntilMs = 0
  #pull: ConsumerMessages | undefined

  constructor(consumer: Consumer, messageBytesMax: number, parts: ConsumerParts) {
    this.#consumer = consumer
    this.#messageBytesMax = messageBytesMax
    this.#parts = parts
    this.#batches = new Batches(
      parts.config.natsBatchMax,
      (messages) => void this.#handle(messages),
    )
  }

  async run(): Promise<void> {
    const { held, config } = this.#parts
    const extend = setInterval(() => {
      for (const message of this.#working) message.working()
    }, config.natsAckWaitMs / 3)
    try {
      while (!this.#isStopping) {
        const pausedMs = this.#pausedUntilMs - performance.now()
        const capacity = Math.min(config.natsBatchMax, held.capacityFor(this.#messageBytesMax))
        if (pausedMs > 0) await sleep(Math.min(pausedMs, pauseMs))
        else if (capacity === 0) await held.nextRelease()
        else await this.#pullMessages(capacity)
      }
    } finally {
      clearInterval(extend)
    }
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    this.#pull?.stop()
    await this.#parts.held.untilEmpty(graceMs)
  }

  async #pullMessages(count: number): Promise<void> {
    const pull = await this.#consumer.fetch({ max_messages: count, expires: pullMs })
    this.#pull = pull
    const abandon = setTimeout(() => pull.stop(), pullMs + pullGraceMs)
    try {
      for await (const message of pull) this.#receive(message)
    } finally {
      clearTimeout(abandon)
      this.#pull = undefined
    }
  }

  #receive(message: JsMsg): void {
    this.#working.add(message)
    this.#parts.held.hold(message.data.byteLength)
    this.#parts.counts.backlog = message.info.pending
    this.#batches.add(message)
  }

  async #handle(messages: readonly JsMsg[]): Promise<void> {
    const { record, held, counts, config, onError } = this.#parts
    try {
      const ends = await record(messages.map(fromStream))
      messages.forEach((message, at) => {
        switch (ends[at]!) {
          case 'recorded':
            counts.messages.acknowledged += 1
            return message.ack()
          case 'undecodable':
            counts.messages.undecodable += 1
            return message.term()
          case 'retry':
            counts.messages.retried += 1
            this.#pausedUntilMs = performance.now() + pauseMs
            return message.nak(retryDelayMs(message.info.deliveryCount, config.natsRetryMsMax))
        }
      })
    } catch (error) {
      // The messages stay unacknowledged, so the server delivers them again.
      onError(error as Error)
    } finally {
      for (const message of messages) {
        this.#working.delete(message)
        held.release(message.data.byteLength)
      }
    }
  }
}

/**
 * Names a message without an id by its position in the stream and the time at which it was stored. Both are the same at every
 * delivery. A stream that is created again counts from 1 again, so the position alone would not be unique.
 */
function fromStream({ subject, data, headers, info, seq, time }: JsMsg): BusMessage {
  const messageId = headers?.get('Nats-Msg-Id') ?? ''
  const place = `nats:${info.stream}:${info.timestampNanos}:${seq}`
  return {
    subject,
    data,
    name: messageId === '' ? place : nameOfMessageId(messageId),
    sentAtMs: time.getTime(),
    sequence: seq,
  }
}
