import { Redis } from 'ioredis'
import type { AcknowledgedHeads } from '../../event-log/acknowledged-heads.ts'
import type { HomeNotes } from '../../event-log/note-lease/home-notes.ts'
import type { RedisClient } from './connect.ts'
import type { RedisCalls } from './redis-calls.ts'
import { createRedisAcknowledgedHeads, writeNotes } from './redis-acknowledged-heads.ts'
import { createScript } from './scripts/script.ts'

/*
 * The replication id identifies a server's time as master: a server gets a new one at each start and each promotion, and its replicas
 * say that they are replicas. The run id would not do, because a master that becomes a replica keeps it and replaces its data.
 */
const readTerm = `
local function readTerm()
  local info = redis.call('INFO', 'replication')
  if not string.find(info, 'role:master', 1, true) then return nil end
  return string.match(info, 'master_replid:(%w+)')
end
`

/* KEYS: the hash of each topic. ARGV: the token. */
const claimScript = createScript(
  readTerm,
  `
local term = readTerm()
if not term then return false end
for i = 1, #KEYS do redis.call('HSET', KEYS[i], 'token', ARGV[1]) end
return term
`,
)

/* KEYS: the hash of the topic. ARGV: term, token, then partitions and heads alternate. Notes at another server are kept too. */
const noteScript = createScript(
  readTerm,
  writeNotes(3),
  `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[2] or readTerm() ~= ARGV[1] then return 0 end
return 1
`,
)

/* KEYS: the hash of the topic. ARGV: term, token, then partitions. */
const readScript = createScript(
  readTerm,
  `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[2] or readTerm() ~= ARGV[1] then return false end
return redis.call('HMGET', KEYS[1], unpack(ARGV, 3))
`,
)

/** Stores notes in the hashes of the acknowledged heads, with the token as one more field. */
function createRedisHomeNotes(calls: RedisCalls, nameOf: (topic: string) => string): HomeNotes {
  return {
    async claim(topics, token) {
      const term = (await calls.run(claimScript, topics.map(nameOf), [token])) as string | null
      return term === null ? undefined : { term, token }
    },
    async note({ term, token }, topic, heads) {
      const args = [...heads].flatMap(([partition, head]) => [`${partition}`, `${head}`])
      return (await calls.run(noteScript, [nameOf(topic)], [term, token, ...args])) === 1
    },
    async read({ term, token }, topic, partitions) {
      const args = [term, token, ...partitions.map(String)]
      const heads = (await calls.run(readScript, [nameOf(topic)], args)) as (string | null)[] | null
      return heads?.map(Number)
    },
  }
}

/**
 * Creates the acknowledged heads of a client. On a cluster they have no home: its masters have different terms, and a failover moves
 * slots between them.
 */
export function createHeadsOf(
  client: RedisClient,
  calls: RedisCalls,
  nameOf: (topic: string) => string,
): AcknowledgedHeads {
  return {
    ...createRedisAcknowledgedHeads(calls, nameOf),
    home: client instanceof Redis ? createRedisHomeNotes(calls, nameOf) : undefined,
  }
}
