import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkHostile } from '../src/hostile/check-hostile.ts'
import { startInstance, type Instance } from '../src/instance/instance.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/instance/temporary-folder.ts'

let folder: TemporaryFolder
let instance: Instance

beforeAll(async () => {
  folder = await makeTemporaryFolder('hostile')
  instance = await startInstance({ dataDir: folder.path, port: 0, environment: process.env })
})

afterAll(async () => {
  await instance.stop()
  await folder.remove()
})

/** The short version of `npm run hostile`. */
test(
  'hostile requests meet clear answers, crash nothing and leave nothing behind',
  { timeout: 120_000 },
  async () => {
    const { tally, problems } = await checkHostile(instance, {
      seed: Date.now() % 2 ** 32,
      requests: 20_000,
      connections: 16,
      say: () => undefined,
    })
    expect(problems).toEqual([])
    expect(tally.statuses.get(400)).toBeGreaterThan(5_000)
    expect(tally.ackedRecords).toBeGreaterThan(500)
  },
)
