import { openKafkaEventLog } from '../src/event-log/kafka/kafka-event-log.ts'
import type { GroupPosition } from '../src/event-log/event-log.ts'
import { kafkaOptions } from '../src/testing/kafka-under-test.ts'

/** Request of the parent: a commit in partition 0 of `orders`. */
export type CommitRequest = { readonly expected: GroupPosition; readonly next: GroupPosition }
/** Report to the parent: the owned partitions, or the outcome of a commit. */
export type MemberReport = { readonly held: readonly string[] } | { readonly committed: string }

/** A member of group `sink` in a separate process that may be suspended and killed. */
const [brokers = '', namePrefix = ''] = process.argv.slice(2)
const { writer: _, ...options } = kafkaOptions(brokers.split(','), namePrefix)
const log = await openKafkaEventLog(options)

const held = new Set<string>()
const report = (message: MemberReport): void => void process.send?.(message)
await log.join('sink', ['orders'], {
  assigned: (topic, partition) => {
    held.add(`${topic}/${partition}`)
    report({ held: [...held] })
  },
  revoked: async (topic, partition) => {
    held.delete(`${topic}/${partition}`)
    report({ held: [...held] })
  },
})
process.on('message', ({ expected, next }: CommitRequest) => {
  log.commit('sink', 'orders', 0, expected, next).then(
    () => report({ committed: 'done' }),
    (error: Error) => report({ committed: error.name }),
  )
})
process.on('disconnect', () => process.exit())
