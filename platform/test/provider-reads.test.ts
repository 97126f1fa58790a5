import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Queryable } from '../src/database/database.ts'
import { providerRows } from '../src/database/postgres/provider-rows.ts'
import { startTestDatabase, type TestDatabase } from '../src/testing/embedded-servers.ts'

/*
 * Reads of two providers on one connection, so that a setting that outlived its statement would be seen by the next statement. The
 * pool itself sees no rows, because its statements name no provider.
 */

let test: TestDatabase
let folder: string
let pool: Sql
/** How often the connection was written to. Statements in one write take one round trip. */
let writes = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-provider-reads-'))
  await mkdir(join(folder, 'control'))
  await mkdir(join(folder, 'environment'))
  await writeFile(
    join(folder, 'environment/0001.sql'),
    'create table notes (provider_id text not null, note int not null);',
  )
  test = await startTestDatabase(folder)
  await test.database.in('live')`
    insert into notes select case n % 2 when 0 then 'prov_even' else 'prov_odd' end, n
    from generate_series(0, 9) n`
})

afterAll(async () => {
  await test.stop()
  await rm(folder, { recursive: true, force: true })
})

beforeEach(async () => {
  const options = {
    max: 1,
    connection: { role: 'tollgate_requests', search_path: 'live' },
    socket: connectCounted,
  }
  pool = postgres(test.url, options)
  await pool`select 1`
})

afterEach(async () => {
  await expectNothingLeft()
  await pool.end()
})

async function connectCounted({ host, port }: { host: string[]; port: number[] }) {
  const socket = connect(port[0]!, host[0])
  await once(socket, 'connect')
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean
  socket.write = (...given: unknown[]) => {
    writes += 1
    return write(...given)
  }
  return socket
}

const ownNotes = { prov_even: [0, 2, 4, 6, 8], prov_odd: [1, 3, 5, 7, 9] }
type ProviderId = keyof typeof ownNotes

const read = <Result>(
  providerId: string,
  body: (sql: Queryable) => Promise<Result>,
): Promise<Result> => providerRows(pool, providerId).read(body)

async function listNotes(sql: Queryable, from = 0): Promise<number[]> {
  const rows = await sql<{ note: number }[]>`
    select note from notes where note >= ${from} order by note`
  return rows.map(({ note }) => note)
}

/** Fails unless the connection has no setting of an earlier statement, and so shows no row. */
async function expectNothingLeft(): Promise<void> {
  const [left] = await pool`
    select coalesce(current_setting('tollgate.provider_id', true), '') as provider,
      current_setting('transaction_read_only') as read_only`
  expect(left).toEqual({ provider: '', read_only: 'off' })
  expect(await listNotes(pool)).toEqual([])
}

async function expectOwnNotes(): Promise<void> {
  for (const providerId of Object.keys(ownNotes) as ProviderId[]) {
    expect(await read(providerId, listNotes)).toEqual(ownNotes[providerId])
    await expectNothingLeft()
  }
}

const divideByZero = (sql: Queryable) => sql`select 1 / ${0}::int`
const readNowhere = (sql: Queryable) => sql`select * from nowhere where name = ${'ada'}`

describe('reads of a provider', () => {
  it('show its rows alone, also with the plan of a statement that another provider prepared', async () => {
    for (let round = 0; round < 12; round += 1) await expectOwnNotes()
  })

  it('send statements that do not wait for each other in one write', async () => {
    const readTogether = () =>
      read('prov_odd', (sql) => Promise.all([listNotes(sql), listNotes(sql, 5)]))
    await readTogether()
    writes = 0
    expect(await readTogether()).toEqual([ownNotes.prov_odd, [5, 7, 9]])
    expect(writes).toBe(1)
  })

  it('stay apart when statements of both and of none are sent together, and some fail', async () => {
    const expected: unknown[] = []
    const sent = Array.from({ length: 300 }, (_, number) => {
      const providerId = number % 2 === 0 ? 'prov_even' : 'prov_odd'
      if (number % 7 === 0) return (expected.push([]), listNotes(pool))
      if (number % 5 === 0) return (expected.push('22012'), read(providerId, divideByZero))
      if (number % 11 === 0) return (expected.push('42P01'), read(providerId, readNowhere))
      expected.push(ownNotes[providerId])
      return read(providerId, listNotes)
    })
    const seen = await Promise.allSettled(sent)
    expect(
      seen.map((each) =>
        each.status === 'fulfilled' ? each.value : (each.reason as { code: string }).code,
      ),
    ).toEqual(expected)
  })

  it('fail no other statement that was sent with the failed one', async () => {
    const sendTogether = (sql: Queryable) =>
      Promise.allSettled([listNotes(sql), divideByZero(sql), listNotes(sql)])
    for (let round = 0; round < 2; round += 1) {
      expect(await read('prov_even', sendTogether)).toMatchObject([
        { value: ownNotes.prov_even },
        { reason: { code: '22012' } },
        { value: ownNotes.prov_even },
      ])
      await expectNothingLeft()
    }
  })

  it('leave nothing behind after an error', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (const [fail, code] of [
        [divideByZero, '22012'] as const,
        [readNowhere, '42P01'] as const,
      ]) {
        await expect(read('prov_even', fail)).rejects.toMatchObject({ code })
        await expectNothingLeft()
      }
    }
    await expectOwnNotes()
  })

  it('leave nothing behind after a cancelled statement', async () => {
    const cancelled = read('prov_even', async (sql) => {
      const sleeping = sql`select pg_sleep(60), note from notes`.execute()
      setTimeout(() => sleeping.cancel(), 200)
      await sleeping
    })
    const behind = read('prov_odd', listNotes)
    await expect(cancelled).rejects.toMatchObject({ code: '57014' })
    expect(await behind).toEqual(ownNotes.prov_odd)
    await expectNothingLeft()
    await expectOwnNotes()
  })

  it('run no statement if the provider cannot be set', async () => {
    // PostgreSQL refuses the character, so the first message of the transaction fails.
    const impossible = 'prov_even\0'
    const sent = [read(impossible, listNotes), read('prov_odd', listNotes), listNotes(pool)]
    const [refused, ...others] = await Promise.allSettled(sent)
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: '22021' } })
    expect(others).toMatchObject([{ value: ownNotes.prov_odd }, { value: [] }])
    await expectOwnNotes()
  })

  it('can change nothing', async () => {
    const insert = (sql: Queryable) => sql`insert into notes values ('prov_even', ${10})`
    for (let round = 0; round < 2; round += 1) {
      await expect(read('prov_even', insert)).rejects.toMatchObject({ code: '25006' })
    }
    await expectOwnNotes()
  })

  it('refuse statements that cannot carry the setting', async () => {
    const behind = read('prov_even', async (sql) => {
      const first = listNotes(sql)
      await expect(sql.unsafe('select note from notes')).rejects.toMatchObject({
        code: 'SIMPLE_QUERY_IN_SCOPE',
      })
      return first
    })
    expect(await behind).toEqual(ownNotes.prov_even)
  })

  it('continue after a pooler discarded the prepared statements of the connection', async () => {
    await expectOwnNotes()
    for (let round = 0; round < 3; round += 1) {
      await pool`deallocate all`.simple()
      await expectOwnNotes()
    }
  })

  it('continue on another connection after theirs was lost between two statements', async () => {
    await expectOwnNotes()
    const [session] = await pool<{ pid: number }[]>`select pg_backend_pid() as pid`
    const sleep = async (sql: Queryable) => sql`select pg_sleep(10)`
    const ending = read('prov_even', (sql) => Promise.allSettled([sleep(sql), listNotes(sql)]))
    const admin = postgres(test.url, { max: 1 })
    await admin`select pg_sleep(0.3), pg_terminate_backend(${session!.pid})`
    await admin.end()
    const ended = await ending
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expectOwnNotes()
  })

  it('do not wait for the slow statement of another read while a connection is free', async () => {
    const two = postgres(test.url, {
      max: 2,
      connection: { role: 'tollgate_requests', search_path: 'live' },
    })
    const of = (providerId: ProviderId) => providerRows(two, providerId)
    const warmUp = () =>
      Promise.all([of('prov_odd').read(listNotes), of('prov_even').read(listNotes)])
    for (let round = 0; round < 3; round += 1) await warmUp()
    const ended: string[] = []
    const slow = of('prov_even').read(async (sql) => {
      await sql`select pg_sleep(2)`
      ended.push('slow')
    })
    const quick = Array.from({ length: 20 }, async () => {
      expect(await of('prov_odd').read(listNotes)).toEqual(ownNotes.prov_odd)
      ended.push('quick')
    })
    await Promise.all([slow, ...quick])
    expect(ended.at(-1)).toBe('slow')
    await two.end()
  })

  it('leave the next change of another provider its own setting', async () => {
    const change = (providerId: ProviderId) =>
      providerRows(pool, providerId).write(async (sql) => {
        await sql`update notes set note = note`
        return listNotes(sql)
      })
    const sent = [read('prov_even', listNotes), change('prov_odd'), read('prov_even', listNotes)]
    const { prov_even: even, prov_odd: odd } = ownNotes
    expect(await Promise.all(sent)).toEqual([even, odd, even])
  })
})
