import { randomRuns } from '@tollgate/platform/testing/random-runs'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anyCallerStep, type CallerName, type CallerStep } from './caller-step.ts'
import { CallerWorld } from './caller-world.ts'

/*
 * Sends requests of all kinds of callers in random order: keys with the scopes `ingest`, `read` and `webhooks`, restricted
 * checkouts, portals, and in between a key with all scopes. No caller may gain what its rights deny. Nothing that costs money may
 * start, because these tests make no payment.
 */

const runs = randomRuns(10, process.env['TOLLGATE_TEST_SEQUENCES'])
const stepsPerSequence = 14

let world: CallerWorld

beforeAll(async () => {
  world = await CallerWorld.open()
})
afterAll(() => world.close())

test(
  'never lets a caller exceed its rights or start something unpaid',
  { timeout: 3_600_000 },
  async () => {
    const sequences = fc.sample(
      fc.array(anyCallerStep, { minLength: stepsPerSequence, maxLength: stepsPerSequence }),
      runs,
    )
    const served = new Map<CallerName, number>()
    for (const steps of sequences) await play(steps, served)
    // Each of these callers must be served at least once, otherwise the test proves nothing about it.
    for (const caller of ['ingest', 'read', 'bound', 'portal'] as const) {
      expect(served.get(caller), caller).toBeGreaterThan(0)
    }
  },
)

async function play(steps: readonly CallerStep[], served: Map<CallerName, number>): Promise<void> {
  const players = await world.addPlayers()
  const done: string[] = []
  for (const step of steps) {
    done.push(JSON.stringify(step))
    const before = await world.read()
    const texts = await world.play(players, step)
    served.set(step.caller, (served.get(step.caller) ?? 0) + texts.length)
    const after = await world.read()
    const description = `seed ${runs.seed}\n${done.join('\n')}`
    world.expectNothingGained(players, step, { before, after, texts }, description)
  }
}
