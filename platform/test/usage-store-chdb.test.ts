import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  spawnChdbGateway,
  type ChdbGatewayProcess,
} from '../src/chdb-gateway/spawn-chdb-gateway.ts'
import { usageStoreContract } from '../src/testing/usage-store-contract.ts'
import { createClickHouseUsageStore } from '../src/usage-store/clickhouse/clickhouse-usage-store.ts'
import type { UsageStore } from '../src/usage-store/usage-store.ts'

const password = 'correct horse: battery'
let folder: string
let gateway: ChdbGatewayProcess
let store: UsageStore
let unreachable: UsageStore

function connect(url: string, key = password): UsageStore {
  return createClickHouseUsageStore({
    url,
    username: 'default',
    password: key,
    requestTimeoutMs: 20_000,
  })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-chdb-'))
  gateway = await spawnChdbGateway({ folder, password })
  store = connect(gateway.url)
  unreachable = connect('http://127.0.0.1:1')
})

afterAll(async () => {
  await store.close()
  await unreachable.close()
  await gateway.stop()
  await rm(folder, { recursive: true, force: true })
})

describe('ClickHouse through the gateway', () => {
  usageStoreContract(() => ({ store, unreachable }))

  it('refuses a wrong password', async () => {
    const stranger = connect(gateway.url, 'wrong')
    await expect(stranger.query('SELECT 1')).rejects.toMatchObject({ code: 516 })
    await stranger.close()
  })
})
