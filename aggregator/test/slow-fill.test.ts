import { setTimeout as sleep } from 'node:timers/promises'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { afterEach, describe, expect, it } from 'vitest'
import { claimFill } from '../src/clickhouse/fill/fill-claim.ts'
import type { FilledTable } from '../src/clickhouse/fill/filled-table.ts'
import { usageByDay } from '../src/clickhouse/migrations/0012-roll-up-tables.ts'
import { expectedSums, readSums } from './stored-before.ts'
import {
  clickhouse,
  fill,
  place,
  rows,
  storeEverywhere,
  timeoutMs,
  times,
  useFilledStore,
} from './filled-store.ts'

useFilledStore()

/** Takes 50 ms per record. */
const slowTable: FilledTable = { ...usageByDay, condition: 'sleepEachRow(0.05) = 0' }

/** Takes longer for the newest month of 40 records in each partition than a test waits. */
const slowestTable: FilledTable = { ...usageByDay, condition: 'sleepEachRow(1) = 0' }
const slowestMs = 20_000

/** Returns a store whose statements may sleep for more than 3 s per block. */
function sleeping(store: UsageStore): UsageStore {
  const allowed = 'function_sleep_max_microseconds_per_block = 0'
  return {
    ...store,
    command: (statement) => store.command(statement.replace('SETTINGS ', `SETTINGS ${allowed}, `)),
  }
}

describe('a slow fill', { timeout: timeoutMs }, () => {
  const short = () =>
    createClickHouseUsageStore({ ...clickhouse.connection, requestTimeoutMs: 1_000 })
  let stores: UsageStore[] = []
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()))
    stores = []
  })
  const opened = (store: UsageStore): UsageStore => {
    stores.push(store)
    return store
  }

  it('may take longer than other requests', async () => {
    await storeEverywhere(40)
    await fill({ store: opened(short()) }, [slowTable])
    expect(await readSums(clickhouse.store, place.database, 'usage_by_day')).toEqual(
      expectedSums('usage_by_day', rows),
    )
  })

  it('does not wait for a query that ClickHouse continues after its process gave up, and counts nothing twice', async () => {
    await storeEverywhere(40)
    const longStore = sleeping(opened(short()))
    await expect(fill({ longStore }, [slowestTable])).rejects.toThrow(/did not answer/)
    const begun = performance.now()
    await fill({}, [usageByDay])
    expect(performance.now() - begun).toBeLessThan(slowestMs / 2)
    expect(await readSums(clickhouse.store, place.database, 'usage_by_day')).toEqual(
      expectedSums('usage_by_day', rows),
    )
  })

  it('ends soon when its process stops, and is continued', async () => {
    await storeEverywhere(40)
    const stopping = new AbortController()
    const long = sleeping(opened(createClickHouseUsageStore(clickhouse.connection)))
    let begun = Infinity
    const longStore: UsageStore = {
      ...long,
      command(statement) {
        begun = performance.now()
        setTimeout(() => stopping.abort(), 500)
        return long.command(statement)
      },
    }
    await expect(fill({ longStore, signal: stopping.signal }, [slowestTable])).rejects.toThrow(
      /QUERY_WAS_CANCELLED/,
    )
    expect(performance.now() - begun).toBeLessThan(slowestMs / 2)
    await fill({}, [usageByDay])
    expect(await readSums(clickhouse.store, place.database, 'usage_by_day')).toEqual(
      expectedSums('usage_by_day', rows),
    )
  })
})

describe('the claim of a fill', { timeout: timeoutMs }, () => {
  const claim = (owner: string, signal = new AbortController().signal) =>
    claimFill(clickhouse.store, place, owner, signal, times)

  it('is given to the next process when it is released', async () => {
    const first = await claim('first')
    let isSecond = false
    const second = claim('second').then((held) => {
      isSecond = true
      return held
    })
    await sleep(times.leaseMs * 2)
    expect(isSecond).toBe(false)
    await first.release()
    await (await second).release()
  })

  it('of a dead process ends with its lease', async () => {
    await clickhouse.store.command(
      `INSERT INTO ${place.database}.roll_up_fill (kind, name, key, value) VALUES ('claim', 'dead', 0, 0)`,
    )
    const held = await claim('next')
    held.requireHeld()
    await held.release()
  })

  it('is not waited for by a process that stops', async () => {
    const first = await claim('first')
    const stopping = new AbortController()
    setTimeout(() => stopping.abort(), 50)
    await expect(claim('second', stopping.signal)).rejects.toThrow(/abort/)
    await first.release()
  })
})
