import { expect, it } from 'vitest'
import { createClient } from '../src/hot-state/redis/connect.ts'
import { HotNames } from '../src/hot-state/redis/hot-names.ts'
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

  it(`${kind} reads the buckets of an earlier release, whose heads do not say that there are any`, async () => {
    const keyPrefix = newKeyPrefix()
    const hot = await openRedisHotState({ servers, keyPrefix, callTimeoutMs })
    const at = { space: 'live', partition: 3, subject: 'ada', scope: 'prd_a' }
    const { space, partition, subject, scope } = at
    const second = Math.floor(Date.now() / 1_000)
    const windows = [{ id: 'w', fromSecond: second - 600, toSecond: second + 600 }]
    const buckets = [{ id: 'daily', seconds: 86_400, offsetSeconds: 0, kept: 4 }]
    const publish = (version: number) =>
      hot.putEntries(space, partition, [
        { subject, scope, version, document: `${version}`, windows, buckets },
      ])
    await publish(1)
    await hot.apply({
      ...{ space, partition, expectedOffset: 0, nextOffset: 1, marks: [] },
      increments: [{ subject, scope, series: 'calls', second, amount: 7n }],
    })
    const client = createClient(servers, callTimeoutMs)
    await client.connect()
    await client.hdel(new HotNames(keyPrefix).partition(space, partition), 'forms')
    client.disconnect()
    // A publication with the same windows does not change the head.
    for (const version of [2, 3]) {
      const read = [
        (await hot.readEntry(at, 'calls')).buckets,
        (await hot.readEntrySeries(at, ['calls'])).series.get('calls')?.buckets,
      ]
      const sums = read.map((each) => [...(each?.get('daily')?.values() ?? [])])
      expect(sums).toEqual([[7n], [7n]])
      await publish(version)
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
