import { openRedisHotState } from '../src/hot-state/redis/redis-hot-state.ts'
import { describeHotState } from '../src/testing/hot-state-contract.ts'
import { deleteKeysOf, describeOnRedis, newKeyPrefix } from '../src/testing/redis-under-test.ts'
import { callTimeoutMs } from './patience.ts'

describeOnRedis((kind, servers) => {
  describeHotState(kind, async () => {
    const keyPrefix = newKeyPrefix()
    const open = () => openRedisHotState({ servers, keyPrefix, callTimeoutMs })
    const hot = await open()
    return {
      hot,
      openReader: open,
      destroy: async () => {
        await hot.close()
        await deleteKeysOf(servers, keyPrefix)
      },
    }
  })
})
