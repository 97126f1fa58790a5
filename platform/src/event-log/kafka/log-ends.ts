import { EventLogUnavailableError } from '../event-log.ts'
import { answeredWithin, askLeader } from './ask-leader.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { NextRequest } from './next-request.ts'
import { describeCode, errorCode } from './wire/error-codes.ts'
import {
  earliest,
  latest,
  listOffsetsRequest,
  type OffsetResult,
  type TopicPartition,
} from './wire/requests.ts'

type Question = TopicPartition & { readonly timestampMs: number }

/** Where partitions begin and end, as their leaders say: nobody else knows what other processes appended. */
export class LogEnds {
  readonly #cluster: KafkaCluster
  readonly #answerWithinMs: number
  readonly #byLeader = new Map<number, NextRequest<Question, OffsetResult>>()

  constructor(cluster: KafkaCluster, answerWithinMs: number) {
    this.#cluster = cluster
    this.#answerWithinMs = answerWithinMs
  }

  head(at: TopicPartition): Promise<number> {
    return this.#ask({ ...at, timestampMs: latest })
  }

  oldest(at: TopicPartition): Promise<number> {
    return this.#ask({ ...at, timestampMs: earliest })
  }

  /** The first offset that is as young as that; the head when none is. */
  async firstSince(at: TopicPartition, timestampMs: number): Promise<number> {
    const head = await this.head(at)
    const offset = await this.#ask({ ...at, timestampMs })
    return offset < 0 ? head : offset
  }

  #ask(question: Question): Promise<number> {
    const leader = this.#cluster.state(question)?.leader ?? -1
    if (leader < 0) return this.#askAgain(question)
    // Nearly always the first answer will do, and a limit check should not pay for what it takes to ask again.
    return this.#of(leader)
      .ask(question)
      .then(
        (result) =>
          result.errorCode === errorCode.none ? result.offset : this.#askAgain(question),
        (error: unknown) => {
          if (error instanceof EventLogUnavailableError) throw error
          return this.#askAgain(question)
        },
      )
  }

  async #askAgain(question: Question): Promise<number> {
    const result = await askLeader(this.#cluster, question, this.#answerWithinMs, (leader) =>
      this.#of(leader).ask(question),
    )
    if (result.errorCode === errorCode.none) return result.offset
    const { topic, partition } = question
    throw new Error(
      `Kafka does not tell where ${topic}/${partition} ends: ${describeCode(result.errorCode)}`,
    )
  }

  #of(leader: number): NextRequest<Question, OffsetResult> {
    let next = this.#byLeader.get(leader)
    if (next === undefined) {
      next = new NextRequest(keyOf, (questions) => this.#send(leader, questions))
      this.#byLeader.set(leader, next)
    }
    return next
  }

  /** A request names a partition once, so questions of different kinds go in requests of their own. */
  async #send(leader: number, questions: readonly Question[]) {
    const kinds = new Map<number, Question[]>()
    for (const question of questions) {
      const same = kinds.get(question.timestampMs)
      if (same === undefined) kinds.set(question.timestampMs, [question])
      else same.push(question)
    }
    const answers = await Promise.all(
      [...kinds].map(async ([timestampMs, ofKind]) => {
        const answer = this.#cluster.send(leader, listOffsetsRequest(ofKind))
        const results = await answeredWithin(this.#answerWithinMs, answer)
        return results.map((result) => [keyOf({ ...result, timestampMs }), result] as const)
      }),
    )
    return new Map(answers.flat())
  }
}

function keyOf({ topic, partition, timestampMs }: Question): string {
  return `${topic}/${partition}/${timestampMs}`
}
