import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  EventLogUnavailableError,
  GroupFencedError,
  isSamePosition,
  type EventLog,
  type GroupPosition,
} from '../src/event-log/event-log.ts'
import { KafkaGroupMembership } from '../src/event-log/kafka/group-membership.ts'
import { startPosition } from '../src/event-log/kafka/group-positions.ts'
import { openKafkaEventLog } from '../src/event-log/kafka/kafka-event-log.ts'
import { deleteTopics, kafkaOptions, testBrokers } from '../src/testing/kafka-under-test.ts'
import { LateCoordinator, type Takeover } from './late-coordinator.ts'

/*
 * A broker that takes over a group may answer with positions that are older than the last acknowledged one. Every commit still
 * continues from an acknowledged position.
 */

const takeovers: fc.Arbitrary<(Takeover | undefined)[]> = fc.array(
  fc.option(fc.record({ isStored: fc.boolean(), lateBy: fc.nat(3) }), { nil: undefined, freq: 2 }),
  { minLength: 3, maxLength: 16 },
)

const steps = 6

describe.skipIf(testBrokers === undefined)('takeovers, with TOLLGATE_TEST_KAFKA_BROKERS', () => {
  const options = kafkaOptions(testBrokers ?? [])
  const at = { topic: `${options.namePrefix}orders`, partition: 0 }
  let log: EventLog
  let cluster: LateCoordinator
  let membership: KafkaGroupMembership
  let group = ''

  beforeEach(async () => {
    log = await openKafkaEventLog(options)
  })

  afterEach(async () => {
    await log.close()
    await deleteTopics(testBrokers!, options.namePrefix)
  })

  async function join(): Promise<void> {
    group = randomUUID()
    cluster = new LateCoordinator(options.connection, [at.topic])
    await cluster.refresh()
    await new Promise<void>((resolve) => {
      membership = new KafkaGroupMembership({
        cluster,
        group,
        topics: { [at.topic]: 1 },
        member: { assigned: () => resolve(), revoked: async () => undefined },
        timeouts: options.groupTimeouts,
        answerWithinMs: options.answerWithinMs,
        logger: options.logger,
        onLeft: () => undefined,
      })
    })
  }

  it('never undo an acknowledged position', async () => {
    await fc.assert(
      fc.asyncProperty(takeovers, async (plan) => {
        await join()
        cluster.takeovers = [...plan]
        let from = startPosition
        let next = startPosition
        const undoing: GroupPosition[] = []
        cluster.onCommit = (position) => {
          const isAgain = [cluster.acknowledged, ...cluster.refused].some((each) =>
            isSamePosition(each, position),
          )
          const isNext =
            isSamePosition(next, position) && isSamePosition(from, cluster.acknowledged)
          if (!isAgain && !isNext) undoing.push(position)
        }
        for (let step = 1, attempt = 0; step <= steps; attempt += 1) {
          try {
            from = (await membership.position(at)) ?? startPosition
            next = { offset: step, note: `${step} ${attempt}` }
            await membership.commit(at, from, next)
            step += 1
          } catch (error) {
            const isExpected =
              error instanceof EventLogUnavailableError || error instanceof GroupFencedError
            if (!isExpected) throw error
          }
        }
        await membership.leave()
        expect(undoing).toEqual([])
      }),
      { numRuns: Number(process.env['TOLLGATE_TEST_TAKEOVERS'] ?? 15) },
    )
  }, 120_000)
})
