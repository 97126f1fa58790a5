import { setTimeout as sleep } from 'node:timers/promises'
import { openRedisHotState } from '../src/hot-state/redis/redis-hot-state.ts'

/*
 * Reads one entry without pause from a cache. Prints a line for each new version: the time before the read in Unix milliseconds,
 * and the version. Parameters: URL of the server, length of the lease in milliseconds.
 */
const [url = '', leaseMs = ''] = process.argv.slice(2)
const entryCache = { charsMax: 100_000, leaseMs: Number(leaseMs), replicasMin: 0 }
const hot = await openRedisHotState({ servers: { url }, entryCache })
const at = { space: 'live', partition: 0, subject: 'paused', scope: '' }
for (;;) {
  const startedAtMs = Date.now()
  const version = await hot.cachedEntryDocument(at)
  console.log(`${startedAtMs} ${version}`)
  await sleep(1)
}
