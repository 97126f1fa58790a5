import { openEnvironment } from '../src/lmdb/environment.ts'

/** A process whose environment in the folder `argv[2]` behaves like lmdb after a fatal error. */
const store = await openEnvironment({
  folder: process.argv[2]!,
  content: 'test',
  formatVersion: 1,
  access: 'write',
  createdWithinMs: 1_000,
})
store.getBinary = () => {
  throw new Error('Invalid argument: MDB_PANIC: Update of meta page failed')
}
setTimeout(() => console.log('still alive'), 10_000)
