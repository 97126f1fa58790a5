import { openLmdbHotState } from '../src/hot-state/lmdb/lmdb-hot-state.ts'
import { openRedisHotState } from '../src/hot-state/redis/redis-hot-state.ts'
import { restoreUntilItFails } from './counted-batches.ts'

/* Applies batches and restores the counts, in a folder or in Redis, until it is killed. */
const [place] = process.argv.slice(2) as [string]
const hot = place.startsWith('redis://')
  ? await openRedisHotState({ servers: { url: place } })
  : await openLmdbHotState({ folder: place, role: 'projection' })
await restoreUntilItFails(hot, (where) => process.stdout.write(`${where}\n`))
