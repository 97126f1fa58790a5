import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, it, type ExpectStatic } from 'vitest'
import { hasRedisServer } from '../src/testing/redis-server.ts'
import { Fleet } from './note-lease-fleet.ts'

/** Appends and checks continue for this long after a failure. All decisions about the home are made in the first three seconds. */
const afterMs = 4_000

async function withFleet(
  expect: ExpectStatic,
  play: (fleet: Fleet) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'note-lease-'))
  const fleet = await Fleet.start(folder)
  try {
    await expect.poll(() => fleet.trusted).toBeGreaterThan(100)
    await play(fleet)
    const { acknowledged } = fleet
    await expect.poll(() => fleet.acknowledged).toBeGreaterThan(acknowledged)
  } finally {
    await fleet.end()
    await rm(folder, { recursive: true, force: true })
  }
  expect(fleet.missed).toEqual([])
  expect(fleet.checks).toBeGreaterThan(500)
}

describe.skipIf(!hasRedisServer)('a check sees every acknowledged record', () => {
  it.concurrent('while two servers are masters and each has some of the processes', ({ expect }) =>
    withFleet(expect, async (fleet) => {
      await fleet.servers[1]!.call('REPLICAOF', 'NO', 'ONE')
      await fleet.reconnect(1, 300, [0, 3])
      await sleep(afterMs)
      await fleet.reconnect(1, 300)
    }),
  )

  it.concurrent(
    'while the home becomes a replica in place and takes over older notes',
    ({ expect }) =>
      withFleet(expect, async (fleet) => {
        const [home, other] = fleet.servers
        await other!.call('REPLICAOF', 'NO', 'ONE')
        await sleep(200)
        await home!.call('REPLICAOF', '127.0.0.1', `${other!.port}`)
        await sleep(300)
        await fleet.reconnect(1, 500, [0, 1, 2])
        await sleep(afterMs)
      }),
  )

  it.concurrent('after FLUSHALL', ({ expect }) =>
    withFleet(expect, async (fleet) => {
      await fleet.servers[0]!.call('FLUSHALL')
      await sleep(afterMs)
    }),
  )

  it.concurrent('when the home starts again with an older file', ({ expect }) =>
    withFleet(expect, async (fleet) => {
      await fleet.restartHome()
      await sleep(afterMs)
    }),
  )

  it.concurrent('while the home is suspended, and reads notes again afterwards', ({ expect }) =>
    withFleet(expect, async (fleet) => {
      fleet.servers[0]!.pause()
      await sleep(2_000)
      fleet.servers[0]!.resume()
      const { trusted } = fleet
      await expect.poll(() => fleet.trusted).toBeGreaterThan(trusted + 100)
    }),
  )
})
