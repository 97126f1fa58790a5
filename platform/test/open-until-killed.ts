import { commit } from '../src/lmdb/commit.ts'
import { openCountedEnvironment, readCount } from './open-counted-environment.ts'

/* Opens an environment again and again, and counts up its own key, until it is killed or a count differs from the last one it committed. */
const [folder, name] = process.argv.slice(2) as [string, string]
const key = Buffer.from(name)
let committed: number | undefined
for (;;) {
  const store = await openCountedEnvironment(folder)
  const read = readCount(store, key)
  if (committed !== undefined && read !== committed) {
    throw new Error(`${name} is ${read} after ${committed} was committed.`)
  }
  committed = read + 1
  await commit(store, () => store.put(key, Buffer.from(String(committed))))
  process.stdout.write(`${committed}\n`)
  await store.close()
}
