import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  EventLogUnavailableError,
  GroupFencedError,
  type EventLog,
  type GroupPosition,
} from '../src/event-log/event-log.ts'
import { KafkaGroupMembership } from '../src/event-log/kafka/group-membership.ts'
import { fetchPositions, startPosition } from '../src/event-log/kafka/group-positions.ts'
import { openKafkaEventLog } from '../src/event-log/kafka/kafka-event-log.ts'
import { deleteTopics, kafkaOptions, testBrokers } from '../src/testing/kafka-under-test.ts'
import { LateCoordinator, type Takeover } from './late-coordinator.ts'

/*
 * A broker that takes over a group may answer with a position that is older than the last acknowledged one. Every commit must
 * still continue from the last acknowledged position, or from a refused one that was stored.
 */

const takeovers: fc.Arbitrary<Takeover | undefined> = fc.option(
  fc.record({
    isStored: fc.boolean(),
    lateReads: fc.nat(4),
    lateBy: fc.integer({ min: 1, max: 3 }),
  }),
  { nil: undefined, freq: 2 },
)

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

  /** Reads the position as a process does that lost it, from a coordinator that may be late. */
  async function readPosition(): Promise<GroupPosition> {
    const positions = await fetchPositions(await cluster.coordinatorOf(group), group, [at])
    return positions.get(`${at.topic}/${at.partition}`) ?? startPosition
  }

  it('never undo an acknowledged position', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(takeovers, { minLength: 3, maxLength: 12 }), async (plan) => {
        await join()
        let acknowledged = startPosition
        let known: GroupPosition | undefined = startPosition
        let from = startPosition
        const undone: GroupPosition[] = []
        cluster.onCommit = () => {
          const newest = [acknowledged, cluster.stored.at(-1) ?? startPosition]
          if (!newest.some(({ offset, note }) => offset === from.offset && note === from.note)) {
            undone.push(acknowledged)
          }
        }
        for (const [step, takeover] of plan.entries()) {
          cluster.takeover = takeover
          for (let attempt = 0; known?.offset !== step + 1; attempt += 1) {
            from = known ?? (await readPosition())
            const next = { offset: step + 1, note: `${step} ${attempt}` }
            known = await membership.commit(at, from, next).then(
              () => next,
              (error: unknown) => {
                const isExpected =
                  error instanceof EventLogUnavailableError || error instanceof GroupFencedError
                if (!isExpected) throw error
                return undefined
              },
            )
          }
          acknowledged = known
        }
        await membership.leave()
        expect(undone).toEqual([])
      }),
      { numRuns: Number(process.env['TOLLGATE_TEST_TAKEOVERS'] ?? 15) },
    )
  }, 120_000)
})
