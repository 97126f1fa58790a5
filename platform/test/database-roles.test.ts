import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../src/database/database.ts'
import { copyTable } from '../src/database/postgres/copy-tables.ts'
import { startEmbeddedPostgres } from '../src/database/embedded/embedded-postgres.ts'
import { createDatabase } from '../src/database/postgres/create-database.ts'
import { migratePostgres } from '../src/database/postgres/migrations.ts'
import {
  createPostgresDatabase,
  type PostgresOptions,
} from '../src/database/postgres/postgres-database.ts'
import { providerRows } from '../src/database/postgres/provider-rows.ts'
import { startTestDatabase, type TestDatabase } from '../src/testing/embedded-servers.ts'
import { startForgetfulPooler } from './forgetful-pooler.ts'

/* Roles belong to the whole server, so the roles of the services exist already, and each login has a unique name. */

let keeper: TestDatabase
let test: TestDatabase
let admin: Sql
let folder: string
let closers: (() => Promise<void>)[]

beforeAll(async () => {
  keeper = await startTestDatabase()
  const empty = await mkdtemp(join(tmpdir(), 'tollgate-roles-'))
  await mkdir(join(empty, 'control'))
  await mkdir(join(empty, 'environment'))
  await migratePostgres({ url: keeper.url, folder: empty })
  await rm(empty, { recursive: true })
})

afterAll(() => keeper.stop())

beforeEach(async () => {
  test = await startTestDatabase()
  admin = postgres(test.url, { max: 1, onnotice: () => {} })
  folder = await mkdtemp(join(tmpdir(), 'tollgate-roles-'))
  closers = []
  await mkdir(join(folder, 'control'))
  await mkdir(join(folder, 'environment'))
  await migration('control/0001.sql', 'create table providers (provider_id text primary key);')
  await migration(
    'environment/0001.sql',
    'create table notes (provider_id text not null, note text not null);',
  )
})

afterEach(async () => {
  for (const close of closers.reverse()) await close()
  await admin.end()
  await test.stop()
  await rm(folder, { recursive: true, force: true })
})

const migration = (path: string, text: string): Promise<void> => writeFile(join(folder, path), text)

function open(options: PostgresOptions): Database {
  const database = createPostgresDatabase({ poolMax: 1, ...options })
  closers.push(() => database.close())
  return database
}

/** Creates a login with only the given rights, and returns its URL. */
async function login(rights = ''): Promise<{ name: string; url: string }> {
  const name = `login_${randomBytes(6).toString('hex')}`
  await admin.unsafe(`create role ${name} login password 'secret' ${rights}`)
  return { name, url: test.url.replace(/\/\/[^@]*@/, `//${name}:secret@`) }
}

/** Creates a login that may own tables, as managed databases provide one. */
async function ownerLogin(): Promise<{ name: string; url: string }> {
  const owner = await login()
  const database = new URL(test.url).pathname.slice(1)
  await admin.unsafe(`grant create on database ${database} to ${owner.name}`)
  return owner
}

const addNotes = (sql: Sql) => sql`
  insert into notes select 'prov_' || n, 'of ' || n from generate_series(1, 2) n`

async function notesOf(database: Database, providerId: string): Promise<string[]> {
  const rows = await database
    .of(providerId)
    .in('live')
    .read((sql) => sql<{ note: string }[]>`select note from notes`)
  return rows.map(({ note }) => note)
}

describe('one login that owns the tables and is no superuser', () => {
  it('creates the roles on a server that has none', async () => {
    const server = await startEmbeddedPostgres({
      folder: join(folder, 'server'),
      port: 0,
      isDurable: false,
    })
    const superuser = postgres(server.url, { max: 1 })
    await superuser`create role owner login password 'secret' createrole`
    await superuser`grant create on database tollgate to owner`
    await superuser.end()
    const url = server.url.replace(/\/\/[^@]*@/, '//owner:secret@')
    await migratePostgres({ url, folder })
    await migratePostgres({ url, folder })
    const database = createPostgresDatabase({ url, poolMax: 1 })
    await addNotes(database.in('live'))
    expect(await notesOf(database, 'prov_1')).toEqual(['of 1'])
    await database.close()
    await server.stop()
  })

  it('serves requests that see one provider, and jobs that see all', async () => {
    const owner = await ownerLogin()
    await admin.unsafe(`grant tollgate_requests, tollgate_jobs to ${owner.name}`)
    await migratePostgres({ url: owner.url, folder })
    const database = open({ url: owner.url })
    await database.ping()
    await addNotes(database.in('live'))
    expect(await notesOf(database, 'prov_1')).toEqual(['of 1'])
    expect(await database.in('live')`select from notes`).toHaveLength(2)
  })

  it('sees all rows in a later migration, and copies rows from another server', async () => {
    const owner = await ownerLogin()
    await admin.unsafe(`grant tollgate_requests, tollgate_jobs to ${owner.name}`)
    await migratePostgres({ url: owner.url, folder })
    const database = open({ url: owner.url })
    await addNotes(database.in('live'))
    await migration('environment/0002.sql', `update notes set note = note || '!';`)
    await migratePostgres({ url: owner.url, folder })
    expect(await notesOf(database, 'prov_2')).toEqual(['of 2!'])

    const asOwner = open({ url: owner.url, isOwner: true })
    await asOwner.in('sandbox').begin((sql) => copyTable(database.in('live'), sql, 'notes'))
    expect(await database.in('sandbox')`select from notes`).toHaveLength(2)
    const [copied] = await admin`
      select relforcerowsecurity as is_forced, reltuples as rows_known_to_planner
      from pg_class where oid = 'sandbox.notes'::regclass`
    expect(copied).toEqual({ is_forced: true, rows_known_to_planner: 2 })
  })

  it('gets the statements for an administrator if it may not take the roles', async () => {
    const owner = await ownerLogin()
    const attempt = migratePostgres({ url: owner.url, folder })
    await expect(attempt).rejects.toThrow(
      `grant tollgate_requests, tollgate_jobs to ${owner.name};`,
    )
    await admin.unsafe(`grant tollgate_requests, tollgate_jobs to ${owner.name}`)
    await migratePostgres({ url: owner.url, folder })
    await open({ url: owner.url }).ping()
  })
})

describe('a login for each', () => {
  it('prevents requests from taking the role of jobs', async () => {
    await migratePostgres({ url: test.url, folder })
    const [jobs, requests] = [await login('noinherit'), await login('noinherit')]
    await admin.unsafe(`grant tollgate_jobs to ${jobs.name}`)
    await admin.unsafe(`grant tollgate_requests to ${requests.name}`)
    const database = open({ url: jobs.url, requestsUrl: requests.url })
    await database.ping()
    await addNotes(database.in('live'))
    expect(await notesOf(database, 'prov_1')).toEqual(['of 1'])
    const rows = database.of('prov_1').in('live')
    await expect(rows.read((sql) => sql`set role tollgate_jobs`)).rejects.toMatchObject({
      code: '42501',
    })
    expect(await rows.read((sql) => sql`select session_user as name`)).toEqual([
      { name: requests.name },
    ])
  })

  it('fails at start if it is not a member of the role', async () => {
    await migratePostgres({ url: test.url, folder })
    const stranger = await login()
    const database = open({ url: test.url, requestsUrl: stranger.url })
    await expect(database.ping()).rejects.toThrow(/permission denied to set role/)
  })
})

describe('a role that is not taken on', () => {
  it('is detected if a pooler drops startup parameters', async () => {
    await migratePostgres({ url: test.url, folder })
    const pooler = await startForgetfulPooler(test.url)
    closers.push(pooler.stop)
    const refusal = /works as \w+ in place of tollgate_(requests|jobs)/
    await expect(open({ url: pooler.url }).ping()).rejects.toThrow(refusal)
    await open({ url: pooler.url, isOwner: true }).ping()
    const forRequests = open({ url: test.url, requestsUrl: pooler.url })
    await expect(forRequests.ping()).rejects.toThrow('in place of tollgate_requests')
  })

  it('is detected if the URL sets another role', async () => {
    await migratePostgres({ url: test.url, folder })
    const database = open({ url: test.url, requestsUrl: `${test.url}?role=tollgate_jobs` })
    await expect(database.ping()).rejects.toThrow(
      'works as tollgate_jobs in place of tollgate_requests',
    )
  })
})

describe('a database from before providers were isolated in it', () => {
  it('is isolated with all its rows', async () => {
    await admin.unsafe(`
      create schema control; create schema sandbox; create schema live;
      create table control.providers (provider_id text primary key);
      create table sandbox.notes (provider_id text not null, note text not null);
      create table live.notes (provider_id text not null, note text not null);
      insert into live.notes values ('prov_1', 'of 1'), ('prov_2', 'of 2')`)
    for (const schema of ['control', 'sandbox', 'live']) {
      await admin.unsafe(`
        create table ${schema}.schema_migrations (name text primary key, applied_at timestamptz not null default now());
        insert into ${schema}.schema_migrations values ('0001.sql')`)
    }
    await migratePostgres({ url: test.url, folder })
    const database = open({ url: test.url })
    expect(await notesOf(database, 'prov_1')).toEqual(['of 1'])
    expect(await database.in('live')`select from notes`).toHaveLength(2)
  })
})

describe('the provider of a transaction', () => {
  it('does not apply to the next transaction of the connection, however the first one ended', async () => {
    await migratePostgres({ url: test.url, folder })
    await addNotes(open({ url: test.url }).in('live'))
    const connection = postgres(test.url, {
      max: 1,
      connection: { role: 'tollgate_requests', search_path: 'live' },
    })
    closers.push(() => connection.end())
    const seen = async (): Promise<number> => (await connection`select from notes`).count
    const rows = providerRows(connection, 'prov_1')
    const fault = new Error('on the way')

    expect(await seen()).toBe(0)
    expect((await rows.read((sql) => sql`select from notes`)).count).toBe(1)
    expect(await seen()).toBe(0)
    await rows.write((sql) => sql`insert into notes values ('prov_1', 'another')`)
    expect(await seen()).toBe(0)
    await expect(rows.write(() => Promise.reject(fault))).rejects.toBe(fault)
    expect(await seen()).toBe(0)
    await expect(rows.read((sql) => sql`select 1 / 0`)).rejects.toMatchObject({ code: '22012' })
    expect(await seen()).toBe(0)
    expect((await rows.read((sql) => sql`select from notes`)).count).toBe(2)
  })

  it('is separate for each of many concurrent transactions', async () => {
    await migratePostgres({ url: test.url, folder })
    const database = open({ url: test.url, poolMax: 3 })
    await addNotes(database.in('live'))
    const found = await Promise.all(
      Array.from({ length: 200 }, (_, number) => notesOf(database, `prov_${(number % 3) + 1}`)),
    )
    found.forEach((notes, number) => {
      expect(notes).toEqual([['of 1'], ['of 2'], []][number % 3])
    })
  })
})

it('creates the roles once, even if several databases are migrated at the same time', async () => {
  const names = Array.from({ length: 4 }, () => `many_${randomBytes(6).toString('hex')}`)
  for (const name of names) await createDatabase(test.url, name)
  const urls = names.map((name) => test.url.replace(/[^/]*$/, name))
  await Promise.all(urls.map((url) => migratePostgres({ url, folder })))
  for (const url of urls) await open({ url }).ping()
})
