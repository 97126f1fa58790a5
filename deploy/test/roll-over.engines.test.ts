import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRedisHotState } from '@tollgate/platform/hot-state/redis/redis-hot-state'
import { freePort } from '@tollgate/platform/testing/free-ports'
import { hasRedisServer, RedisServerProcess } from '@tollgate/platform/testing/redis-server'
import { describe } from 'vitest'
import { describeRollOver } from './roll-over-contract.ts'
import { startStack } from './stack.ts'

describe.skipIf(!hasRedisServer)('on Redis', () => {
  let redis: RedisServerProcess
  describeRollOver(
    'units carried over',
    async (clock) => {
      const folder = await mkdtemp(join(tmpdir(), 'tollgate-roll-over-'))
      const port = await freePort()
      redis = await RedisServerProcess.start({ folder, port })
      const hotState = await openRedisHotState({ servers: { url: redis.url } })
      const settings = { TOLLGATE_PUBLISH_INTERVAL_MS: '100', TOLLGATE_CACHE_FRESH_MS: '50' }
      const stack = await startStack({ clock, hotState, logLevel: 'silent', settings })
      return {
        stack,
        remove: async () => {
          await stack.stop()
          await hotState.close()
          await redis.kill()
          await rm(folder, { recursive: true })
        },
      }
    },
    async () => {
      await redis.call('FLUSHALL')
    },
  )
})
