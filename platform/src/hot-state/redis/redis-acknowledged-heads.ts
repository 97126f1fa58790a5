import type { AcknowledgedHeads } from '../../event-log/acknowledged-heads.ts'
import type { RedisCalls } from './redis-calls.ts'
import { createScript } from './scripts/script.ts'

/* KEYS: where the heads of the topic are. ARGV: partitions and heads in turn. Offsets are exact as Lua's numbers. */
const noteScript = createScript(`
for i = 1, #ARGV, 2 do
  local noted = redis.call('HGET', KEYS[1], ARGV[i])
  if not noted or tonumber(noted) < tonumber(ARGV[i + 1]) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
`)

/**
 * One hash per topic, so that what was acknowledged at once is noted by one call. A failover may take back the last of
 * the notes; until the next record is acknowledged there, and only while the log cannot be asked, readers then miss what
 * was acknowledged last.
 */
export function createRedisAcknowledgedHeads(
  calls: RedisCalls,
  nameOf: (topic: string) => string,
): AcknowledgedHeads {
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
