import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkAborts } from '../src/hostile/aborts/check-aborts.ts'
import { checkEndless } from '../src/hostile/check-endless.ts'
import { checkSlow } from '../src/hostile/check-slow.ts'
import { checkFraming } from '../src/hostile/framing/check-framing.ts'
import { checkRequests } from '../src/hostile/requests/check-requests.ts'
import { startInstance, type Instance } from '../src/instance/instance.ts'
import {
  makeTemporaryFolder,
  type TemporaryFolder,
} from '@tollgate/deploy/standalone/temporary-folder'

/** The short version of `npm run hostile`. */

let folder: TemporaryFolder
let instance: Instance
const seed = Date.now() % 2 ** 32

beforeAll(async () => {
  folder = await makeTemporaryFolder('hostile')
  instance = await startInstance({ dataDir: folder.path, port: 0, environment: process.env })
})

afterAll(async () => {
  await instance.stop()
  await folder.remove()
})

test.each([
  [
    'answers malformed requests without a server error, a crash or a wrong record',
    checkRequests({ seed, requests: 700, connections: 16 }),
  ],
  [
    'does not execute smuggled requests at uWebSockets.js, and stores nothing of them',
    checkFraming({ seed, requests: 300, connections: 16 }),
  ],
  [
    'answers every healthy client while slow clients hold connections',
    checkSlow({ sockets: 250, rounds: 1, seconds: 2 }),
  ],
  [
    'counts every acknowledged record of clients that disconnect at any moment, and no refused one',
    checkAborts({ seed, aborts: 500 }),
  ],
  [
    'cuts off endless bodies, and answers every healthy client',
    checkEndless({ connections: 500, seconds: 2 }),
  ],
])('%s', { timeout: 400_000 }, async (_, check) => {
  const { lines, problems } = await check(instance, () => undefined)
  expect(problems, `seed ${seed}\n${lines.join('\n')}`).toEqual([])
})

test('does not execute smuggled requests at node:http', async () => {
  const ownFolder = await makeTemporaryFolder('hostile-node')
  const environment = { ...process.env, TOLLGATE_HTTP_FRONT: 'node' }
  const own = await startInstance({ dataDir: ownFolder.path, port: 0, environment })
  try {
    const check = checkFraming({ seed, requests: 300, connections: 16 })
    const { lines, problems } = await check(own, () => undefined)
    expect(problems, `seed ${seed}\n${lines.join('\n')}`).toEqual([])
  } finally {
    await own.stop()
    await ownFolder.remove()
  }
}, 180_000)
