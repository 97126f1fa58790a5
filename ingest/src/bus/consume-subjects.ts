import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node'
import { nameOfMessageId, type BusMessage } from './bus-message.ts'
import type { ConsumerParts, RunningConsumer } from './consumer-parts.ts'
import { retryDelayMs } from './retry-delay.ts'
import { Batches } from './batches.ts'

/**
 * Consumes plain subjects with a queue group: one process of the group gets each message, and nothing stores it. A message that the
 * log refuses is retried in memory. Messages that arrive beyond the bounds meanwhile are dropped and counted.
 */
export async function consumeSubjects(
  connection: NatsConnection,
  parts: ConsumerParts,
): Promise<RunningConsumer> {
  const { config, subjects, held, counts, record, nowMs } = parts
  const batches = new Batches<BusMessage>(config.natsBatchMax, (messages) => void handle(messages))
  const stopping = new AbortController()

  const handle = async (messages: readonly BusMessage[]): Promise<void> => {
    let unfinished = messages
    for (let attempt = 1; unfinished.length > 0; attempt += 1) {
      const ends = await record(unfinished)
      const toRetry: BusMessage[] = []
      unfinished.forEach((message, at) => {
        const end = ends[at]!
        if (end === 'retry' && !stopping.signal.aborted) return toRetry.push(message)
        counts.messages[endOf(end)] += 1
        return held.release(message.data.byteLength)
      })
      unfinished = toRetry
      counts.messages.retried += unfinished.length
      const delayMs = retryDelayMs(attempt, config.natsRetryMsMax)
      // A stop ends the delay, so that the last attempt starts immediately.
      if (unfinished.length > 0) await sleep(delayMs, undefined, stopping).catch(() => undefined)
    }
  }
  const receive = (message: Msg): void => {
    const bytes = message.data.byteLength
    if (held.capacityFor(bytes) === 0) {
      counts.messages.dropped += 1
      return
    }
    held.hold(bytes)
    const messageId = message.headers?.get('Nats-Msg-Id') ?? ''
    batches.add({
      subject: message.subject,
      data: message.data,
      // If the publisher set no id, a random one deduplicates the attempts of this process.
      name: messageId === '' ? `nats:once:${randomUUID()}` : nameOfMessageId(messageId),
      sentAtMs: nowMs(),
    })
  }
  const subscriptions = subjects.map((subject): Subscription =>
    connection.subscribe(subject, {
      queue: config.natsGroup,
      callback: (error, message) => (error === null ? receive(message) : parts.onError(error)),
    }),
  )
  await connection.flush()
  return {
    ended: Promise.all(subscriptions.map(({ closed }) => closed)).then(() => undefined),
    stop: async (graceMs) => {
      // Without a server there is nothing to drain, and `drain` would never resolve.
      const drained = Promise.all(subscriptions.map((each) => each.drain().catch(() => undefined)))
      await Promise.race([drained, sleep(graceMs, undefined, { ref: false })])
      stopping.abort()
      await held.untilEmpty(graceMs)
    },
  }
}

function endOf(end: 'recorded' | 'undecodable' | 'retry') {
  if (end === 'recorded') return 'acknowledged'
  return end === 'undecodable' ? end : 'dropped'
}
