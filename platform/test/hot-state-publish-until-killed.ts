import { openLmdbHotState } from '../src/hot-state/lmdb/lmdb-hot-state.ts'
import { openRedisHotState } from '../src/hot-state/redis/redis-hot-state.ts'
import { countRound, publishRounds } from './published-rounds.ts'

/* Counts, and publishes in many steps, in a folder or in Redis, until it is killed. */
const [place] = process.argv.slice(2) as [string]
const foldedMinutesMax = 1
const hot = place.startsWith('redis://')
  ? await openRedisHotState({ servers: { url: place }, foldedMinutesMax })
  : await openLmdbHotState({ folder: place, role: 'projection', foldedMinutesMax })
for (;;) {
  const fence = await countRound(hot)
  process.stdout.write('publishing\n')
  await publishRounds(hot, fence)
  process.stdout.write('published\n')
}
