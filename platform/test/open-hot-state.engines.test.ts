import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readSettings } from '../src/config/settings.ts'
import { hotStateSettings } from '../src/hot-state/hot-state-settings.ts'
import type { HotState } from '../src/hot-state/hot-state.ts'
import { openHotState } from '../src/hot-state/open-hot-state.ts'
import { createLogger } from '../src/observability/logger.ts'
import { freePorts } from '../src/testing/free-ports.ts'
import { hasRedisServer, RedisServerProcess } from '../src/testing/redis-server.ts'
import { answered } from './answered.ts'

const logger = createLogger('test', 'silent')
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'open-hot-state-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

function open(environment: Record<string, string>): Promise<HotState> {
  const config = { ...readSettings(hotStateSettings, environment), dataDir: folder }
  return openHotState(config, 'publisher', logger)
}

it('stores hot state in the data folder by default', async () => {
  const hot = await open({})
  await hot.putDocument('a', 'b')
  await hot.close()
  expect(await readdir(join(folder, 'hot'))).not.toEqual([])
})

describe.skipIf(!hasRedisServer)('in Redis, as the settings say', () => {
  let server: RedisServerProcess
  let tlsPort: number
  afterEach(async () => {
    await server.kill()
  })

  /** A self-signed certificate is its own authority, so one for each side is enough. */
  async function startWithTls(): Promise<void> {
    const certificate = await generate([{ name: 'commonName', value: 'localhost' }])
    await writeFile(join(folder, 'cert.pem'), certificate.cert)
    await writeFile(join(folder, 'key.pem'), certificate.private)
    const ports = (await freePorts(2)) as [number, number]
    tlsPort = ports[1]
    const settings = {
      'tls-port': `${tlsPort}`,
      'tls-cert-file': 'cert.pem',
      'tls-key-file': 'key.pem',
      'tls-ca-cert-file': 'cert.pem',
    }
    server = await RedisServerProcess.start({ folder, port: ports[0], settings })
    await server.call('ACL', 'SETUSER', 'tollgate', 'on', '>p@ss', '~*', '&*', '+@all')
  }

  it('with user, password, certificates and a key prefix', async () => {
    await startWithTls()
    const environment = {
      TOLLGATE_HOT_STATE: 'redis',
      TOLLGATE_REDIS_URL: `rediss://tollgate:p%40ss@localhost:${tlsPort}`,
      TOLLGATE_REDIS_CA_FILE: join(folder, 'cert.pem'),
      TOLLGATE_REDIS_CERT_FILE: join(folder, 'cert.pem'),
      TOLLGATE_REDIS_KEY_FILE: join(folder, 'key.pem'),
      TOLLGATE_REDIS_KEY_PREFIX: 'ours',
    }
    const hot = await open(environment)
    await hot.ping()
    await hot.putDocument('a', 'b')
    await hot.waitForApply(1)
    await hot.close()
    const plain = await open({ ...environment, TOLLGATE_REDIS_URL: server.url })
    expect(await plain.readDocument('a')).toBe('b')
    await plain.close()

    const untrusting = await open({ ...environment, TOLLGATE_REDIS_CA_FILE: '' })
    await expect(untrusting.ping()).rejects.toThrow('No connection to Redis')
    await untrusting.close()
    const other = await open({
      ...environment,
      TOLLGATE_REDIS_URL: server.url,
      TOLLGATE_REDIS_KEY_PREFIX: 'theirs',
    })
    expect(await other.readDocument('a')).toBeUndefined()
    await other.close()
  })

  it('on the nodes of a cluster', async () => {
    const [port, busPort] = (await freePorts(2)) as [number, number]
    const settings = {
      'cluster-enabled': 'yes',
      'cluster-port': `${busPort}`,
      'cluster-announce-ip': '127.0.0.1',
    }
    server = await RedisServerProcess.start({ folder, port, settings })
    await server.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    const hot = await open({
      TOLLGATE_HOT_STATE: 'redis',
      TOLLGATE_REDIS_CLUSTER_NODES: `localhost:1, 127.0.0.1:${port}`,
    })
    await answered(() => hot.putDocument('a', 'b'))
    expect(await hot.readDocument('a')).toBe('b')
    await hot.ping()
    await hot.close()
  })
})
