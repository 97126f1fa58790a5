import type { Logger } from '../../observability/logger.ts'
import { EventLogUnavailableError } from '../event-log.ts'
import { answeredWithin, requestFromLeader } from './request-from-leader.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { LeaderWitnesses } from './leader-witnesses.ts'
import { NextRequest } from './next-request.ts'
import { describeCode, errorCode } from './wire/error-codes.ts'
import {
  earliest,
  latest,
  listOffsetsRequest,
  type OffsetQuestion,
  type OffsetResult,
  type TopicPartition,
} from './wire/requests.ts'

export type LogEndsParts = {
  readonly cluster: KafkaCluster
  /** Timeout of requests to leaders, in milliseconds. */
  readonly answerWithinMs: number
  readonly logger: Pick<Logger, 'warn' | 'info'>
}

/** After a timeout, requests do not wait for that leader for this long. The next request after that checks whether it is back. */
const unavailableMs = 1_000

/** Reads the start and the end of partitions from their leaders, which are the only ones that know the appends of all processes. */
export class LogEnds {
  readonly #parts: LogEndsParts
  readonly #byLeader = new Map<number, NextRequest<OffsetQuestion, OffsetResult>>()
  /** Highest known head, by partition. */
  readonly #knownHeads = new Map<string, number>()
  /** Time until which the leader counts as unavailable, with the error that it was found with, by partition. */
  readonly #unavailable = new Map<string, { readonly untilMs: number; readonly error: Error }>()

  readonly #witnesses = new LeaderWitnesses((broker, { topic, partition, leaderEpoch }) =>
    this.#of(broker).ask({ topic, partition, leaderEpoch, timestampMs: latest }),
  )

  constructor(parts: LogEndsParts) {
    this.#parts = parts
  }

  async head(at: TopicPartition): Promise<number> {
    const head = await this.#ask({ ...at, timestampMs: latest })
    this.recordHead(at, head)
    return head
  }

  oldest(at: TopicPartition): Promise<number> {
    return this.#ask({ ...at, timestampMs: earliest })
  }

  /** Returns the first offset at or after the time, or the head if there is none. */
  async firstSince(at: TopicPartition, timestampMs: number): Promise<number> {
    const head = await this.head(at)
    const offset = await this.#ask({ ...at, timestampMs })
    return offset < 0 ? head : offset
  }

  /** Returns the highest known head; undefined before the first answer. */
  lastKnownHead(at: TopicPartition): number | undefined {
    return this.#knownHeads.get(partitionKey(at))
  }

  /** Records a head that an append has shown. */
  recordHead(at: TopicPartition, head: number): void {
    const key = partitionKey(at)
    if (head > (this.#knownHeads.get(key) ?? -1)) this.#knownHeads.set(key, head)
  }

  #ask(question: OffsetQuestion): Promise<number> {
    const leader = this.#parts.cluster.state(question)?.leader ?? -1
    const away = this.#unavailable.get(partitionKey(question))
    if (away !== undefined && performance.now() < away.untilMs) return Promise.reject(away.error)
    if (leader < 0 || away !== undefined) return this.#askAgain(question)
    // The first answer nearly always succeeds, and a limit check should not pay the cost of the retry machinery.
    return this.#askOnce(leader, question).then(
      (result) => (result.errorCode === errorCode.none ? result.offset : this.#askAgain(question)),
      (error: unknown) => {
        if (!(error instanceof EventLogUnavailableError)) return this.#askAgain(question)
        this.#markUnavailable(question, error)
        throw error
      },
    )
  }

  /** A former leader reports a wrong end only; trimmed records stay trimmed. So only the end is confirmed by followers. */
  #askOnce(leader: number, question: OffsetQuestion): Promise<OffsetResult> {
    const state = this.#parts.cluster.state(question)
    if (question.timestampMs !== latest || state === undefined) {
      return this.#of(leader).ask(question)
    }
    const answer = this.#of(leader).ask({ ...question, leaderEpoch: state.leaderEpoch })
    if (state.followers.length === 0) return answer
    return Promise.all([answer, this.#witnesses.confirm(state)]).then(([result]) => result)
  }

  async #askAgain(question: OffsetQuestion): Promise<number> {
    const { cluster, answerWithinMs } = this.#parts
    let result: OffsetResult
    try {
      result = await requestFromLeader(cluster, question, answerWithinMs, (leader) =>
        this.#askOnce(leader, question),
      )
    } catch (error) {
      this.#markUnavailable(question, error as Error)
      throw error
    }
    this.#markAvailable(question)
    if (result.errorCode === errorCode.none) return result.offset
    const { topic, partition } = question
    throw new Error(
      `Kafka does not tell where ${topic}/${partition} ends: ${describeCode(result.errorCode)}`,
    )
  }

  #markUnavailable({ topic, partition }: OffsetQuestion, error: Error): void {
    const key = partitionKey({ topic, partition })
    if (!this.#unavailable.has(key) && !this.#parts.cluster.isClosed) {
      this.#parts.logger.warn(
        { topic, partition, reason: error.message },
        'Kafka does not answer for a partition; using the last known head',
      )
    }
    this.#unavailable.set(key, { untilMs: performance.now() + unavailableMs, error })
    // Refreshes, so that the next request uses the current leader.
    this.#parts.cluster.refresh().catch(() => undefined)
  }

  #markAvailable({ topic, partition }: OffsetQuestion): void {
    if (!this.#unavailable.delete(partitionKey({ topic, partition }))) return
    this.#parts.logger.info({ topic, partition }, 'Kafka answers again for the partition')
  }

  #of(leader: number): NextRequest<OffsetQuestion, OffsetResult> {
    let next = this.#byLeader.get(leader)
    if (next === undefined) {
      next = new NextRequest(keyOf, (questions) => this.#send(leader, questions))
      this.#byLeader.set(leader, next)
    }
    return next
  }

  async #send(leader: number, questions: readonly OffsetQuestion[]) {
    const answers = await Promise.all(
      byRequest(questions).map(async (ofRequest) => {
        const answer = this.#parts.cluster.send(leader, listOffsetsRequest(ofRequest))
        const results = await answeredWithin(this.#parts.answerWithinMs, answer)
        const keys = new Map(ofRequest.map((each) => [partitionKey(each), keyOf(each)]))
        return results.map((result) => [keys.get(partitionKey(result))!, result] as const)
      }),
    )
    return new Map(answers.flat())
  }
}

/** Splits the questions into requests, because one request may contain a partition only once. */
function byRequest(questions: readonly OffsetQuestion[]): OffsetQuestion[][] {
  const requests: Map<string, OffsetQuestion>[] = []
  for (const question of questions) {
    const key = partitionKey(question)
    const request = requests.find((each) => !each.has(key))
    if (request === undefined) requests.push(new Map([[key, question]]))
    else request.set(key, question)
  }
  return requests.map((request) => [...request.values()])
}

/** The key includes the epoch: a question about an earlier leader must not be answered with the answer about the current one. */
function keyOf({ timestampMs, leaderEpoch = -1, ...at }: OffsetQuestion): string {
  return `${partitionKey(at)}/${timestampMs}/${leaderEpoch}`
}

function partitionKey({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`
}
