import { commit } from '../src/lmdb/commit.ts'
import { openEnvironment } from '../src/lmdb/environment.ts'

/* Opens an environment again and again, and counts up its own key, until it is killed or a count differs from the last one it committed. */
const [folder, name] = process.argv.slice(2) as [string, string]
const key = Buffer.from(name)
let committed: number | undefined
for (;;) {
  const store = await openEnvironment({
    folder,
    content: 'test',
    formatVersion: 1,
    access: 'write',
    createdWithinMs: 0,
  })
  const read = Number(store.getBinary(key)?.toString() ?? 0)
  if (committed !== undefined && read !== committed) {
    throw new Error(`${name} is ${read} after ${committed} was committed.`)
  }
  committed = read + 1
  await commit(store, () => store.put(key, Buffer.from(String(committed))))
  process.stdout.write(`${committed}\n`)
  await store.close()
}
