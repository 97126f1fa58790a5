import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSettings } from '../src/config/settings.ts'
import { startTestUsageStore, type TestUsageStore } from '../src/testing/embedded-servers.ts'
import {
  clickHouseConnection,
  clickHouseSettings,
} from '../src/usage-store/clickhouse/clickhouse-settings.ts'
import { createClickHouseUsageStore } from '../src/usage-store/clickhouse/clickhouse-usage-store.ts'
import { UsageStoreUnavailableError } from '../src/usage-store/usage-store.ts'

let clickhouse: TestUsageStore
let folder: string
let server: Server
let certificate: { readonly private: string; readonly cert: string }

/** A self-signed certificate is its own authority, so one for each side is enough. */
beforeAll(async () => {
  clickhouse = await startTestUsageStore()
  folder = await mkdtemp(join(tmpdir(), 'tollgate-tls-'))
  certificate = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048 })
  await writeFile(join(folder, 'cert.pem'), certificate.cert)
  await writeFile(join(folder, 'key.pem'), certificate.private)
  server = createServer(
    {
      key: certificate.private,
      cert: certificate.cert,
      ca: certificate.cert,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (incoming, outgoing) => {
      const hasCertificate = Object.keys(socketOf(incoming.socket).getPeerCertificate()).length > 0
      if (incoming.headers['x-clickhouse-user'] === 'certified' && !hasCertificate) {
        outgoing.writeHead(403).end('no certificate')
        return
      }
      const { method, url } = incoming
      // A user name that only this proxy accepts. The gateway behind it has one user with all rights.
      const headers = { ...incoming.headers, 'x-clickhouse-user': 'default' }
      const onward = request(new URL(url!, clickhouse.connection.url), { method, headers })
      onward.on('response', (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(outgoing)
      })
      incoming.pipe(onward)
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await clickhouse.stop()
  await rm(folder, { recursive: true, force: true })
})

function socketOf(socket: unknown): { getPeerCertificate(): object } {
  return socket as { getPeerCertificate(): object }
}

async function ask(environment: Record<string, string>): Promise<unknown> {
  const config = readSettings(clickHouseSettings, {
    TOLLGATE_CLICKHOUSE_URL: `https://localhost:${(server.address() as AddressInfo).port}`,
    TOLLGATE_CLICKHOUSE_PASSWORD: clickhouse.connection.password,
    ...environment,
  })
  const store = createClickHouseUsageStore(
    clickHouseConnection(config, { requestTimeoutMs: 10_000 }),
  )
  try {
    return await store.query('SELECT 1 AS one')
  } finally {
    await store.close()
  }
}

describe('ClickHouse over TLS', () => {
  it('is used if its authority is configured, and not trusted otherwise', async () => {
    const authority = { TOLLGATE_CLICKHOUSE_CA_FILE: join(folder, 'cert.pem') }
    expect(await ask(authority)).toEqual([{ one: 1 }])
    await expect(ask({})).rejects.toThrow(UsageStoreUnavailableError)
  })

  it('gets the client certificate if it requires one', async () => {
    const anonymous = {
      TOLLGATE_CLICKHOUSE_USERNAME: 'certified',
      TOLLGATE_CLICKHOUSE_CA_FILE: join(folder, 'cert.pem'),
    }
    await expect(ask(anonymous)).rejects.toThrow()
    const certified = {
      ...anonymous,
      TOLLGATE_CLICKHOUSE_CERT_FILE: join(folder, 'cert.pem'),
      TOLLGATE_CLICKHOUSE_KEY_FILE: join(folder, 'key.pem'),
    }
    expect(await ask(certified)).toEqual([{ one: 1 }])
  })

  it('requires the certificate and its authority together', async () => {
    await expect(ask({ TOLLGATE_CLICKHOUSE_CERT_FILE: join(folder, 'cert.pem') })).rejects.toThrow(
      /needs TOLLGATE_CLICKHOUSE_CA_FILE/,
    )
  })
})

describe('a ClickHouse cluster', () => {
  const url = { TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:1' }

  it('is written until every shard has the rows on a majority, and read where it was written', async () => {
    const store = createClickHouseUsageStore({
      ...clickhouse.connection,
      cluster: { name: 'main', insertQuorum: 'auto' },
    })
    const changed = await store.query<{ name: string; value: string }>(
      `SELECT name, value FROM system.settings WHERE name IN ('distributed_foreground_insert', 'insert_quorum',
         'insert_quorum_timeout', 'load_balancing', 'prefer_localhost_replica', 'distributed_ddl_task_timeout')
       ORDER BY name`,
    )
    await store.close()
    expect(changed.map(({ name, value }) => `${name}=${value}`)).toEqual([
      'distributed_ddl_task_timeout=27',
      'distributed_foreground_insert=1',
      'insert_quorum=auto',
      'insert_quorum_timeout=27000',
      'load_balancing=in_order',
      'prefer_localhost_replica=0',
    ])
  })

  it('has a name that is valid in SQL, and a valid quorum', () => {
    for (const name of ["x'y", 'a b', '`']) {
      const named = { ...url, TOLLGATE_CLICKHOUSE_CLUSTER: name }
      expect(() => readSettings(clickHouseSettings, named)).toThrow(/TOLLGATE_CLICKHOUSE_CLUSTER/)
    }
    for (const quorum of ['0', 'all', '-1', '']) {
      const wanted = { ...url, TOLLGATE_CLICKHOUSE_INSERT_QUORUM: quorum }
      expect(() => readSettings(clickHouseSettings, wanted)).toThrow(/INSERT_QUORUM/)
    }
  })
})
