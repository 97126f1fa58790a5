import { randomRuns } from '@tollgate/platform/testing/random-runs'
import { expect, test } from 'vitest'
import { createSeededRandom } from '../../../tools/src/client/seeded-random.ts'
import { startInstance } from '../../../tools/src/instance/instance.ts'
import { requestWithRetries } from '../../src/client/request-with-retries.ts'
import { createTollgateClient } from '../../src/client/tollgate-client.ts'
import { findFreePort } from '../../src/standalone/ports.ts'
import { makeTemporaryFolder } from '../../src/standalone/temporary-folder.ts'
import { createMeters } from './hold-market.ts'
import { Killer } from './killer.ts'
import { openStory, playStory } from './play-story.ts'

/*
 * Callers of one customer hold, use parts, extend, release and settle at once, one by one and in batches, while ingest, the counters
 * and the control plane are killed at random moments. At every answer, what is certainly used or held must be within every cap and
 * the wallet, and a refusal must be explained by what may be used or held. At the end everything acknowledged is counted once, and
 * exactly the rest can be held.
 */

const asked = process.env['TOLLGATE_TEST_HOLD_KILLS']
const killsMin = Number(asked ?? 3)
const { seed } = randomRuns(1, asked)
const storySize = { callers: 6, actsPerCaller: asked === undefined ? 10 : 25 }

test(
  `holds exactly while processes are killed [seed ${seed}]`,
  { timeout: 7_200_000 },
  async () => {
    const folder = await makeTemporaryFolder('killed-holds')
    const port = await findFreePort(new Set())
    const options = { dataDir: folder.path, port, environment: process.env }
    const killer = new Killer(await startInstance(options), () => startInstance(options))
    try {
      const acts = await playUnderKills(killer)
      expect(acts, `seed ${seed}`).toEqual(expect.arrayContaining(['part', 'batch', 'refused']))
    } finally {
      await killer.instance.kill()
      await folder.remove()
    }
  },
)

/** Plays pairs of stories until enough was killed. Returns the kinds of acts that were answered. */
async function playUnderKills(killer: Killer): Promise<string[]> {
  const { baseUrl, sandboxKey: key } = killer.instance.credentials
  const options = { baseUrl, key, connectionsMax: 64 }
  const client = createTollgateClient({ ...options, timeoutMs: 20_000 })
  const impatient = createTollgateClient({ ...options, timeoutMs: 5 })
  const random = createSeededRandom(seed)
  const killRandom = createSeededRandom(seed + 1)
  const acts = new Set<string>()
  try {
    const meters = await createMeters(client)
    while (killer.kills < killsMin) {
      const opening = [true, false].map((isPrepaid) => {
        const storySeed = random.integer(0, 2 ** 31)
        const clients = { client, impatient }
        return openStory({ clients, meters, isPrepaid, seed: storySeed })
      })
      const stories = await Promise.all(opening)
      const playing = Promise.all(stories.map((story) => playStory(story, storySize)))
      await killer.killDuring(playing, killRandom, stories)
      // The service that was killed last may still be starting.
      await requestWithRetries(() => client.listMeters())
      for (const { tally, problems } of stories) {
        if (asked !== undefined) console.log(`${killer.kills} kills`, Object.fromEntries(tally))
        expect(problems, `seed ${seed}`).toEqual([])
        for (const act of tally.keys()) acts.add(act)
      }
    }
    return [...acts]
  } finally {
    client.close()
    impatient.close()
  }
}
