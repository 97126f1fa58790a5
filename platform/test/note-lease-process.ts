import { openKafkaEventLog } from '../src/event-log/kafka/kafka-event-log.ts'
import { openRedisHotState } from '../src/hot-state/redis/redis-hot-state.ts'
import { kafkaOptions } from '../src/testing/kafka-under-test.ts'
import { appendRecords, fleetTopics, openMember, type Member } from './note-lease-fleet.ts'

/** Opens a member of the fleet that shares a log in Kafka with others. */
export async function openKafkaMember(
  brokers: readonly string[],
  namePrefix: string,
  redisUrls: readonly string[],
): Promise<Member & { close(): Promise<void> }> {
  const options = kafkaOptions(brokers, namePrefix)
  const writer = { ...options.writer, partitionCounts: fleetTopics }
  const log = await openKafkaEventLog({ ...options, topics: Object.keys(fleetTopics), writer })
  const states = await Promise.all(
    redisUrls.map((url) => openRedisHotState({ servers: { url }, callTimeoutMs: 300 })),
  )
  const member = await openMember(log, states)
  const close = async (): Promise<void> => {
    await member.lease.close()
    await Promise.all(states.map((state) => state.close()))
    await log.close()
  }
  return Object.assign(member, { close })
}

/** Request to the process: the server that it uses from now on. Its report: the acknowledged heads of its own appends. */
export type UseServer = { readonly server: number }
export type Acknowledged = { readonly acknowledged: readonly number[] }

/** Appends until the parent ends it, and may be suspended meanwhile. */
if (process.send !== undefined && process.argv[1]?.endsWith('note-lease-process.ts') === true) {
  const [brokers = '', namePrefix = '', ...redisUrls] = process.argv.slice(2)
  const member = await openKafkaMember(brokers.split(','), namePrefix, redisUrls)
  process.on('message', ({ server }: UseServer) => void (member.server = server))
  process.on('disconnect', () => process.exit())
  const heads = new Proxy([0, 0], {
    set: (target, place, head: number) => {
      Reflect.set(target, place, head)
      process.send?.({ acknowledged: [...target] } satisfies Acknowledged)
      return true
    },
  })
  await appendRecords(member.log, 1, heads, () => false)
}
