import type { AcknowledgedHeads } from '../../event-log/acknowledged-heads.ts'
import type { RedisCalls } from './redis-calls.ts'
import { createScript } from './scripts/script.ts'

/** Writes the notes of a script whose KEYS[1] is the hash of the topic. From `first` on, partitions and heads alternate in ARGV. */
export const writeNotes = (first: number): string => `
for i = ${first}, #ARGV, 2 do
  local noted = redis.call('HGET', KEYS[1], ARGV[i])
  if not noted or tonumber(noted) < tonumber(ARGV[i + 1]) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
`

/* Lua numbers represent offsets exactly. */
const noteScript = createScript(writeNotes(1))

/**
 * Stores acknowledged heads in one hash per topic, so that heads acknowledged together need one call. A failover may lose the last
 * of them. Until the next record is acknowledged, and only while the log does not answer, readers then miss the last acknowledged
 * records.
 */
export function createRedisAcknowledgedHeads(
  calls: RedisCalls,
  nameOf: (topic: string) => string,
): Omit<AcknowledgedHeads, 'home'> {
  return {
    async note(topic, heads) {
      const args = [...heads].flatMap(([partition, head]) => [
        partition.toString(),
        head.toString(),
      ])
      await calls.run(noteScript, [nameOf(topic)], args)
    },
    async read(topic, partition) {
      const name = nameOf(topic)
      const head = await calls.call((client) => client.hget(name, partition.toString()))
      return head === null ? undefined : Number(head)
    },
  }
}
