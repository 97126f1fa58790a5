import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request, type ClientRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { ClickHouseLogLevel, createClient, type ClickHouseClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  spawnChdbGateway,
  type ChdbGatewayProcess,
} from '../src/chdb-gateway/spawn-chdb-gateway.ts'

const password = 'correct: horse'
const quiet = { log: { level: ClickHouseLogLevel.OFF } }
let folder: string
let gateway: ChdbGatewayProcess
let client: ClickHouseClient

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-chdb-'))
  gateway = await spawnChdbGateway({ folder, password })
  client = createClient({ ...quiet, url: gateway.url, password })
})

afterAll(async () => {
  await client.close()
  await gateway.stop()
  await rm(folder, { recursive: true, force: true })
})

async function valueOf(query: string, more: object = {}): Promise<unknown> {
  const result = await client.query({ query, format: 'JSONCompactEachRow', ...more })
  const rows = await result.json<unknown[]>()
  return rows[0]?.[0]
}

const settingOf = (name: string): Promise<unknown> =>
  valueOf(`SELECT value FROM system.settings WHERE name = '${name}'`)

describe('the official client against the gateway', () => {
  it('answers both kinds of ping', async () => {
    expect(await client.ping()).toEqual({ success: true })
    expect(await client.ping({ select: true })).toEqual({ success: true })
  })

  it('inserts arrays, streams and chosen columns, and reports the written rows', async () => {
    await client.command({
      query: 'CREATE TABLE shapes (a UInt32, b String DEFAULT upper(toString(a))) ORDER BY a',
    })
    const { summary } = await client.insert({
      table: 'shapes',
      values: [{ a: 1, b: 'x' }, { a: 2 }],
      format: 'JSONEachRow',
    })
    expect(summary?.written_rows).toBe('2')
    await client.insert({
      table: 'shapes',
      values: Readable.from([{ a: 3 }, { a: 4 }], { objectMode: true }),
      format: 'JSONEachRow',
      columns: ['a'],
    })
    await client.insert({
      table: 'shapes',
      values: Readable.from(['5,five\n'], { objectMode: false }),
      format: 'CSV',
    })
    await client.command({ query: `INSERT INTO shapes VALUES (6, 'six')` })
    await client.command({ query: 'INSERT INTO shapes FORMAT JSONEachRow {"a":7} {"a":8}' })
    await client.command({ query: 'INSERT INTO shapes FORMAT JSONEachRow' })
    await client.command({ query: 'INSERT INTO shapes SELECT a + 100, b FROM shapes WHERE a > 4' })
    const result = await client.query({ query: 'SELECT * FROM shapes ORDER BY a' })
    expect((await result.json<{ a: number }>()).data.map(({ a }) => a)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 105, 106, 107, 108,
    ])
  })

  it('accepts rows in binary formats', async () => {
    await client.command({ query: 'CREATE TABLE binary (a UInt32, b String) ORDER BY a' })
    for (const [query, row] of [
      ['INSERT INTO binary (b, a) FORMAT RowBinary', '\x01b\x07\0\0\0'],
      ['INSERT INTO binary FORMAT Native', '\x02\x01\x01b\x06String\x01n\x01a\x05UInt8\x08'],
    ] as const) {
      const values = Readable.from([Buffer.from(row, 'latin1')], { objectMode: false })
      const { stream } = await client.exec({ query, values })
      stream.resume()
    }
    const result = await client.query({ query: 'SELECT * FROM binary ORDER BY a' })
    expect((await result.json()).data).toEqual([
      { a: 7, b: 'b' },
      { a: 8, b: 'n' },
    ])
  })

  it('supports compression in both directions', async () => {
    const zipped = createClient({
      ...quiet,
      url: gateway.url,
      password,
      compression: { request: true, response: true },
    })
    await zipped.command({ query: 'CREATE TABLE zipped (a UInt32, b String) ORDER BY a' })
    const values = Array.from({ length: 5000 }, (_, a) => ({ a, b: 'b'.repeat(50) }))
    await zipped.insert({ table: 'zipped', values, format: 'JSONEachRow' })
    const result = await zipped.query({ query: 'SELECT * FROM zipped ORDER BY a' })
    expect((await result.json()).data).toEqual(values)
    await expect(zipped.query({ query: 'SELECT nope' })).rejects.toMatchObject({ code: '47' })
    await zipped.close()
  })

  it('uses the database of the connection, and does not keep it', async () => {
    await client.command({ query: 'CREATE DATABASE `else``where`' })
    const elsewhere = createClient({ ...quiet, url: gateway.url, password, database: 'else`where' })
    await elsewhere.command({ query: 'CREATE TABLE here (a UInt8) ORDER BY a' })
    await elsewhere.insert({ table: 'here', values: [{ a: 7 }], format: 'JSONEachRow' })
    const result = await elsewhere.query({ query: 'SELECT a FROM here', format: 'JSONEachRow' })
    expect(await result.json()).toEqual([{ a: 7 }])
    await elsewhere.close()
    expect(await valueOf('SELECT currentDatabase()')).toBe('default')
    await expect(valueOf('SELECT a FROM here')).rejects.toMatchObject({ code: '60' })
  })

  it('never applies the settings of one statement to another', async () => {
    const own = { max_threads: 1, max_block_size: '4242', log_comment: `it's \\ "mine"` } as const
    const threads = await settingOf('max_threads')
    const block = await settingOf('max_block_size')
    await Promise.all(
      Array.from({ length: 60 }, async (_, each) => {
        if (each % 2 === 0) {
          expect(
            await valueOf(`SELECT getSetting('log_comment')`, { clickhouse_settings: own }),
          ).toBe(own.log_comment)
          return
        }
        expect(await settingOf('max_threads')).toBe(threads)
        expect(await settingOf('max_block_size')).toBe(block)
      }),
    )
    await client.command({ query: 'SET max_block_size = 17' })
    expect(await settingOf('max_block_size')).toBe(block)
    expect(await settingOf('insert_deduplication_token')).toBe('')
  })

  it('uses a token only for its insert: the same rows without a token are inserted', async () => {
    await client.command({
      query: `CREATE TABLE tokens (a UInt32) ORDER BY a
              SETTINGS non_replicated_deduplication_window = 100`,
    })
    const insert = (a: number, token?: string): Promise<unknown> =>
      client.insert({
        table: 'tokens',
        values: [{ a }],
        format: 'JSONEachRow',
        clickhouse_settings: {
          async_insert: 0,
          ...(token === undefined ? {} : { insert_deduplication_token: token }),
        },
      })
    await insert(1, 'one')
    await insert(2, 'one')
    for (const a of [3, 4, 5]) await insert(a)
    expect(await valueOf('SELECT groupArray(a) FROM (SELECT a FROM tokens ORDER BY a)')).toEqual([
      1, 3, 4, 5,
    ])
  })

  it('reports number, name and status of an error', async () => {
    await expect(valueOf('SELECT * FROM missing')).rejects.toMatchObject({
      code: '60',
      type: 'UNKNOWN_TABLE',
    })
    await expect(
      valueOf('SELECT 1', { clickhouse_settings: { no_such_setting: 1 } }),
    ).rejects.toMatchObject({ code: '115', type: 'UNKNOWN_SETTING' })
    await expect(
      valueOf('SELECT sum(sipHash64(number)) FROM numbers(30000000000)', {
        clickhouse_settings: { max_execution_time: 1 },
      }),
    ).rejects.toMatchObject({ code: '159', type: 'TIMEOUT_EXCEEDED' })
    const unknown = await post('/?query=SELECT%20*%20FROM%20missing')
    expect(unknown.status).toBe(404)
    expect(unknown.headers['x-clickhouse-exception-code']).toBe('60')
  })

  it('runs inserts while heavy SELECTs use all their capacity', async () => {
    await client.command({ query: 'CREATE TABLE busy (a UInt32) ORDER BY a' })
    const heavy = Array.from({ length: 6 }, () =>
      valueOf('SELECT sum(sipHash64(number)) FROM numbers(30000000000)', {
        clickhouse_settings: { max_execution_time: 2, max_threads: 1 },
      }).catch(() => 'ended'),
    )
    await sleep(200)
    const started = performance.now()
    await client.insert({ table: 'busy', values: [{ a: 1 }], format: 'JSONEachRow' })
    expect(performance.now() - started).toBeLessThan(1500)
    await Promise.all(heavy)
  })
})

describe('the gateway at its edges', () => {
  it('runs the query of a POST body, of the URL, and of both together', async () => {
    expect(await post('/', { key: password, body: Buffer.from('SELECT 1') })).toMatchObject({
      status: 200,
      body: '1\n',
    })
    const both = await post('/?query=SELECT%201%20AS%20a', {
      key: password,
      body: Buffer.from('UNION ALL SELECT 1'),
    })
    expect(both.body).toBe('1\n1\n')
    expect(await post('/', { key: password })).toMatchObject({
      status: 400,
      body: expect.stringContaining('Empty query') as string,
    })
    expect((await fetch(gateway.url, { headers: headersOf({ key: password }) })).status).toBe(200)
    expect(await post('/play', { key: password })).toMatchObject({ status: 404 })
  })

  it('refuses changes with any method except POST, as ClickHouse does', async () => {
    const get = async (query: string, more = '', method = 'GET'): Promise<number> => {
      const url = `${gateway.url}/?user=default&password=${encodeURIComponent(password)}${more}&query=`
      return (await fetch(url + encodeURIComponent(query), { method })).status
    }
    expect(await get('SELECT 1')).toBe(200)
    expect(await get('CREATE TABLE by_link (a UInt8) ORDER BY a')).toBe(403)
    expect(await get('SET readonly = 0; CREATE TABLE by_link (a UInt8) ORDER BY a')).toBe(403)
    for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS']) {
      const create = 'CREATE TABLE by_link (a UInt8) ORDER BY a'
      expect([method, await get(create, '&readonly=0', method)]).not.toContain(200)
    }
    expect(await get('SELECT 1', '&readonly=1')).toBe(200)
    expect(await valueOf(`SELECT count() FROM system.tables WHERE name = 'by_link'`)).toBe(0)
  })

  it('accepts no other user, and the reader only if it has a password', async () => {
    for (const user of ['data_team', 'admin', '']) {
      const headers = {
        'x-clickhouse-user': user,
        'x-clickhouse-key': user === '' ? 'x' : password,
      }
      expect((await fetch(`${gateway.url}/?query=SELECT%201`, { headers })).status).toBe(403)
    }
  })

  it('refuses requests without the password', async () => {
    for (const authorization of [undefined, basic(''), basic('wrong'), 'Basic %%%', 'Bearer x']) {
      for (const path of ['/ping', '/', '/?query=SELECT%201']) {
        expect(await post(path, { authorization })).toMatchObject({ status: 403 })
      }
    }
    expect(await post('/ping', { key: password })).toMatchObject({ status: 200, body: 'Ok.\n' })
    expect(await post('/?query=SELECT%201', { key: password })).toMatchObject({ body: '1\n' })
  })

  it('refuses a body above its limit, compressed or not, and keeps working', async () => {
    const large = Buffer.alloc(65 * 1024 * 1024, '\n')
    const path = '/?query=INSERT%20INTO%20t%20FORMAT%20JSONEachRow'
    expect(await post(path, { key: password, body: large })).toMatchObject({ status: 413 })
    const bomb = gzipSync(large)
    expect(await post(path, { key: password, body: bomb, encoding: 'gzip' })).toMatchObject({
      status: 413,
    })
    expect(
      await post(path, { key: password, body: Buffer.from('not gzip'), encoding: 'gzip' }),
    ).toMatchObject({ status: 400 })
    expect(await client.ping()).toEqual({ success: true })
  })

  it('limits the bodies of all requests together', async () => {
    const path = '/?query=INSERT%20INTO%20no_such_table%20FORMAT%20JSONEachRow'
    const body = Buffer.alloc(60 * 1024 * 1024, '\n')
    const open = Array.from({ length: 8 }, () => openPost(path, { key: password }))
    // The bodies are sent but not ended. Together, except for the bytes in socket buffers, they exceed the limit of the gateway.
    await Promise.all(
      open.map(({ sent }) => new Promise<void>((resolve) => sent.write(body, () => resolve()))),
    )
    for (const { sent } of open) sent.end()
    const statuses = (await Promise.all(open.map(({ answer }) => answer))).map(
      ({ status }) => status,
    )
    expect(new Set(statuses)).toEqual(new Set([404, 503]))
    expect(await post(path, { key: password, body })).toMatchObject({ status: 404 })
  })

  it('refuses invalid names', async () => {
    for (const name of ['a%20b', 'x%3D1%2Cy', 'param_a%27', '1']) {
      expect(await post(`/?query=SELECT%201&${name}=1`, { key: password })).toMatchObject({
        status: 400,
      })
    }
  })

  it('refuses too many concurrent statements instead of queueing without limit', async () => {
    const slow = `/?query=${encodeURIComponent('SELECT sleep(0.02)')}`
    const answers = await Promise.all(
      Array.from({ length: 320 }, () => post(slow, { key: password })),
    )
    const statuses = answers.map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200, 503]))
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(256)
  })

  it('names the owner of a folder that is in use', async () => {
    await expect(spawnChdbGateway({ folder, password })).rejects.toThrow(
      `The ClickHouse folder ${folder} is in use by process ${gateway.process.pid}; only one process can open it.`,
    )
  })
})

describe('the gateway as a process', () => {
  it('finishes running statements before it stops', async () => {
    const own = await mkdtemp(join(tmpdir(), 'tollgate-chdb-'))
    const short = await spawnChdbGateway({ folder: own, password })
    const slow = post('/?query=SELECT%20sleep(1)', { key: password, url: short.url })
    await sleep(300)
    await short.stop()
    expect(await slow).toMatchObject({ status: 200, body: '0\n' })
    expect(short.process.exitCode).toBe(0)
    await rm(own, { recursive: true, force: true })
  })

  it('ends with its parent at any time, and releases the folder for the next', async () => {
    const own = await mkdtemp(join(tmpdir(), 'tollgate-chdb-'))
    const script = fileURLToPath(new URL('./hold-chdb-gateway.ts', import.meta.url))
    const parent = fork(script, [own, password], {
      execArgv: ['--conditions=source', '--import', 'tsx'],
    })
    const [report] = (await once(parent, 'message')) as [{ url: string }]
    const heavy = encodeURIComponent('SELECT sum(sipHash64(number)) FROM numbers(30000000000)')
    const cut = expect(
      post(`/?query=${heavy}`, { key: password, url: report.url }),
    ).rejects.toThrow()
    await sleep(200)
    parent.kill('SIGKILL')
    const again = await spawnChdbGateway({ folder: own, password })
    await cut
    await again.stop()
    await rm(own, { recursive: true, force: true })
  })
})

type Call = {
  readonly authorization?: string | undefined
  readonly key?: string
  readonly body?: Buffer
  readonly encoding?: string
  readonly url?: string
}

type Answer = {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: string
}

/** Sends plain HTTP, for requests that the client would not send. */
async function post(path: string, call: Call = { key: password }): Promise<Answer> {
  const { sent, answer } = openPost(path, call)
  sent.end(call.body)
  return await answer
}

/** Opens a request whose body is written and ended later. */
function openPost(path: string, call: Call): { sent: ClientRequest; answer: Promise<Answer> } {
  const sent = request(`${call.url ?? gateway.url}${path}`, {
    method: 'POST',
    headers: headersOf(call),
  })
  const answer = new Promise<Answer>((resolve, reject) => {
    sent.once('response', (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => (body += text))
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      )
    })
    sent.once('error', reject)
  })
  return { sent, answer }
}

function headersOf({ authorization, key, encoding }: Call): Record<string, string> {
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...(key === undefined ? {} : { 'x-clickhouse-key': key }),
    ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
  }
}

function basic(key: string): string {
  return `Basic ${Buffer.from(`default:${key}`).toString('base64')}`
}
