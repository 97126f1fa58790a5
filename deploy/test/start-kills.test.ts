import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { expect, test } from 'vitest'
import { startUnderKills } from '../../tools/src/chaos/start-kills.ts'
import { createSeededRandom } from '../../tools/src/client/seeded-random.ts'
import { createTollgateClient } from '../src/client/tollgate-client.ts'
import type { Instance } from '../../tools/src/instance/instance.ts'
import { makeTemporaryFolder } from '../src/standalone/temporary-folder.ts'

/*
 * Any process of an installation is killed during the start, on a new folder and on a used one. The installation must always become
 * ready, record usage and check limits.
 */

const asked = process.env['TOLLGATE_TEST_START_KILLS']
const { numRuns: killsMin, seed } = randomRuns(8, asked)
const killsPerStart = 4

test('starts although any process is killed during the start', { timeout: 3_600_000 }, async () => {
  const random = createSeededRandom(seed)
  const killed = new Map<string, number>()
  let kills = 0
  while (kills < killsMin) {
    const folder = await makeTemporaryFolder('start-kills')
    try {
      // The second start runs on a folder whose installation was killed.
      for (const ends of ['kill', 'stop'] as const) {
        const instance = await startUnderKills(
          { dataDir: folder.path, port: 0, environment: process.env },
          random,
          {
            killsMax: killsPerStart,
            treeShare: 0.1,
            onKill: (name) => {
              kills += 1
              killed.set(name, (killed.get(name) ?? 0) + 1)
            },
          },
        )
        await expectWorking(instance)
        await instance[ends]()
      }
    } finally {
      await folder.remove()
    }
    if (asked !== undefined) console.log(`seed ${seed}: ${kills} kills`, Object.fromEntries(killed))
  }
})

async function expectWorking({ credentials }: Instance): Promise<void> {
  const { baseUrl, sandboxKey: key, productRef } = credentials
  const client = createTollgateClient({ baseUrl, key, connectionsMax: 1, timeoutMs: 15_000 })
  try {
    // The part that was killed last may still be starting.
    await expect.poll(() => check(client, productRef), { timeout: 60_000 }).toBe('works')
  } finally {
    client.close()
  }
}

async function check(
  client: ReturnType<typeof createTollgateClient>,
  productRef: string,
): Promise<string> {
  try {
    const before = await client.checkLimit('user_grace', productRef)
    await client.recordUsage({ customerRef: 'user_grace', productRef })
    const after = await client.checkLimit('user_grace', productRef)
    return after.remaining === before.remaining - 1 ? 'works' : JSON.stringify({ before, after })
  } catch (error) {
    return String(error)
  }
}
