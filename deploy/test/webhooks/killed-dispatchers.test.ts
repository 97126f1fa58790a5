import { fileURLToPath } from 'node:url'
import { afterAll, expect, test, vi } from 'vitest'
import { measureKills, killTestSize } from '../../../tools/src/bench/webhooks/measure-kills.ts'
import { startRig } from '../../../tools/src/bench/webhooks/rig.ts'
import { makeTemporaryFolder } from '../../src/standalone/temporary-folder.ts'

/*
 * Built dispatchers are repeatedly killed with `kill -9`, and PostgreSQL is restarted once. No delivery may be lost, and few may be
 * sent twice.
 */

const configured = process.env['TOLLGATE_TEST_WEBHOOK_KILLED_DELIVERIES']
const deliveries = Number(configured ?? 1_500)
const killEveryMs = configured === undefined ? 1_000 : 2_000

/** Maximum requests of one dispatcher to one endpoint at a time. */
const perEndpointMax = 4

// The built program is used, because tests resolve packages to their sources, which Node cannot run.
const dispatcher = fileURLToPath(
  new URL('../../../webhook-dispatcher/dist/bundled/main.js', import.meta.url),
)

const folder = await makeTemporaryFolder('killed-dispatchers')
const rig = await startRig(folder.path, dispatcher)
afterAll(async () => {
  await rig.stop()
  await folder.remove()
})

test(
  'delivers every webhook while dispatchers are killed',
  { timeout: 120_000 + 5 * deliveries },
  async () => {
    const seen = await measureKills(rig, deliveries, killEveryMs)
    expect(seen.lost).toBe(0)
    expect(seen.kills).toBeGreaterThan(0)
    expect(seen.restarts).toBe(1)
    const { dispatchers, endpoints } = killTestSize
    // Upper bound of the requests in flight when a dispatcher was killed, and when all dispatchers lost the database.
    const onTheirWayMax = (seen.kills + dispatchers) * endpoints * perEndpointMax
    expect(seen.duplicates).toBeLessThanOrEqual(onTheirWayMax + seen.failures)
    const [left] = await rig.database.in('sandbox')<{ deliveries: number }[]>`
    select count(*)::int as deliveries from webhook_deliveries where state <> 'succeeded'`
    expect(left!.deliveries).toBe(0)
    if (configured !== undefined) console.log('killed dispatchers', seen)
  },
)

test('reports a webhook that never arrives as lost', { timeout: 120_000 }, async () => {
  const measuring = measureKills(rig, 3, killEveryMs)
  await vi.waitFor(
    async () => {
      const skipped = await rig.database.in('sandbox')`
        update webhook_deliveries set state = 'skipped', finished_at = now()
        where sequence = (select max(sequence) from webhook_deliveries where state = 'pending' and leased_until is null)`
      expect(skipped.count).toBe(1)
    },
    { timeout: 30_000, interval: 5 },
  )
  expect(await measuring).toMatchObject({ deliveries: 3, lost: 1 })
})

test('starts no dispatcher after the measurement has ended', async () => {
  const other = await startRig(`${folder.path}/other`, dispatcher)
  await other.stop()
  expect(() => other.startDispatchers(1)).toThrow('the rig is stopped')
})
