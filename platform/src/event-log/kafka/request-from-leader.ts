import { setTimeout as sleep } from 'node:timers/promises'
import { EventLogUnavailableError } from '../event-log.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { describeCode, isRetriable } from './wire/error-codes.ts'
import type { PartitionResult, TopicPartition } from './wire/requests.ts'

const pauseMinMs = 10
const pauseMaxMs = 500

/**
 * Sends a request to the leader of a partition, and to the next leader if it has moved, until there is a final response. Rejects
 * with an EventLogUnavailableError if there is none within `withinMs`. Only for reads, because a request may reach the broker
 * twice.
 */
export async function requestFromLeader<Result extends PartitionResult>(
  cluster: KafkaCluster,
  at: TopicPartition,
  withinMs: number,
  ask: (leader: number) => Promise<Result>,
): Promise<Result> {
  return retryUntilAnswered(withinMs, async () => {
    try {
      const leader = cluster.state(at)?.leader ?? -1
      if (leader < 0) throw new Error(`${at.topic}/${at.partition} has no leader`)
      const result = await ask(leader)
      if (isRetriable(result.errorCode)) throw new Error(describeCode(result.errorCode))
      return result
    } catch (error) {
      await cluster.refresh()
      throw error
    }
  })
}

/** Retries until an attempt succeeds. Rejects with an EventLogUnavailableError after `withinMs` milliseconds. */
export async function retryUntilAnswered<Result>(
  withinMs: number,
  attempt: () => Promise<Result>,
): Promise<Result> {
  const timedOut = new AbortController()
  const timer = setTimeout(() => timedOut.abort(), withinMs)
  let reason: unknown
  const attempts = async (): Promise<Result> => {
    for (let pauseMs = pauseMinMs; ; pauseMs = Math.min(pauseMaxMs, pauseMs * 2)) {
      try {
        return await attempt()
      } catch (error) {
        reason = error
        if (error instanceof EventLogUnavailableError || timedOut.signal.aborted) throw error
      }
      await sleep(pauseMs, undefined, { signal: timedOut.signal })
    }
  }
  try {
    return await Promise.race([attempts(), rejectedBy(timedOut.signal)])
  } catch (error) {
    if (error instanceof EventLogUnavailableError) throw error
    throw new EventLogUnavailableError(
      `Kafka does not answer${reason instanceof Error ? `: ${reason.message}` : ''}`,
      { cause: reason },
    )
  } finally {
    clearTimeout(timer)
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('time is up')), { once: true })
  })
}

/** Rejects with an EventLogUnavailableError if the response takes longer than `withinMs` milliseconds. */
export async function answeredWithin<Answer>(
  withinMs: number,
  answer: Promise<Answer>,
): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    // The error is created only when the time is up, because its stack takes longer than the rest of a limit check's question.
    timer = setTimeout(
      () => reject(new EventLogUnavailableError(`Kafka did not answer within ${withinMs} ms.`)),
      withinMs,
    )
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
