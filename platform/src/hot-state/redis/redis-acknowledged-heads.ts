import type { AcknowledgedHeads } from '../../event-log/acknowledged-heads.ts'
import type { RedisCalls } from './redis-calls.ts'
import { createScript } from './scripts/script.ts'

/* KEYS: where the head is. ARGV: the head. Offsets are exact as Lua's numbers. */
const noteScript = createScript(`
local noted = redis.call('GET', KEYS[1])
if not noted or tonumber(noted) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
`)

/**
 * One key per partition. A failover may take back the last of them; until the next record is acknowledged there, and
 * only while the log cannot be asked, readers then miss what was acknowledged last.
 */
export function createRedisAcknowledgedHeads(
  calls: RedisCalls,
  nameOf: (topic: string, partition: number) => string,
): AcknowledgedHeads {
  return {
    async note(topic, partition, head) {
      await calls.run(noteScript, [nameOf(topic, partition)], [head.toString()])
    },
    async read(topic, partition) {
      const head = await calls.call((client) => client.get(nameOf(topic, partition)))
      return head === null ? undefined : Number(head)
    },
  }
}
