import { openLmdbHotState } from '../src/hot-state/lmdb/lmdb-hot-state.ts'
import { applyUntilItFails } from './counted-batches.ts'

/* Applies batches until it is killed. */
const [folder] = process.argv.slice(2) as [string]
const hot = await openLmdbHotState({ folder, role: 'projection' })
process.stdout.write('started\n')
await applyUntilItFails(hot)
