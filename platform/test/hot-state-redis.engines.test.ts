import { expect, it } from 'vitest'
import { openRedisHotState } from '../src/hot-state/redis/redis-hot-state.ts'
import { describeHotState } from '../src/testing/hot-state-contract.ts'
import { deleteKeysOf, describeOnRedis, newKeyPrefix } from '../src/testing/redis-under-test.ts'
import { callTimeoutMs } from './patience.ts'

describeOnRedis((kind, servers) => {
  describeHotState(kind, async () => {
    const keyPrefix = newKeyPrefix()
    // One minute, so that publications take several steps.
    const options = { servers, keyPrefix, callTimeoutMs, foldedMinutesMax: 1 }
    const open = () => openRedisHotState(options)
    const hot = await open()
    return {
      hot,
      openReader: open,
      lose: () => deleteKeysOf(servers, keyPrefix),
      destroy: async () => {
        await hot.close()
        await deleteKeysOf(servers, keyPrefix)
      },
    }
  })

  it(`${kind} reads any number of documents at once, each with its current content`, async () => {
    const keyPrefix = newKeyPrefix()
    const hot = await openRedisHotState({ servers, keyPrefix, callTimeoutMs })
    const places = Array.from({ length: 900 }, (_, n) => {
      return { space: 'sandbox', partition: n % 2, subject: `customer_${n}`, scope: 'prd_a' }
    })
    for (const version of [1, 2]) {
      const document = `{"version":${version}}`
      const isStored = (n: number): boolean => n % 3 !== 0
      const stored = places.filter((_, n) => isStored(n))
      await Promise.all(stored.map((at) => hot.putEntry(at, { document, version, windows: [] })))
      const read = await Promise.all(
        [...places, ...places].map(async (at) => hot.readEntryDocument(at)),
      )
      const expected = places.map((_, n) => (isStored(n) ? document : undefined))
      expect(read).toEqual([...expected, ...expected])
    }
    await hot.close()
    await deleteKeysOf(servers, keyPrefix)
  })

  it(`${kind} stores the acknowledged head, which never moves back`, async () => {
    const keyPrefix = newKeyPrefix()
    const open = () => openRedisHotState({ servers, keyPrefix, callTimeoutMs })
    const [writer, reader] = [await open(), await open()]
    expect(await reader.acknowledgedHeads!.read('usage', 3)).toBeUndefined()
    for (const head of [5, 2 ** 40, 7]) {
      const heads = new Map([
        [3, head],
        [4, 2 * head],
      ])
      await writer.acknowledgedHeads!.note('usage', heads)
    }
    expect(await reader.acknowledgedHeads!.read('usage', 3)).toBe(2 ** 40)
    expect(await reader.acknowledgedHeads!.read('usage', 4)).toBe(2 ** 41)
    expect(await reader.acknowledgedHeads!.read('usage', 5)).toBeUndefined()
    await Promise.all([writer.close(), reader.close()])
    await deleteKeysOf(servers, keyPrefix)
  })
})
