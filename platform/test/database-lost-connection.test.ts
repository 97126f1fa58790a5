import { afterEach, beforeEach, expect, it } from 'vitest'
import { startTestDatabase, type TestDatabase } from '../src/testing/embedded-servers.ts'

let test: TestDatabase

beforeEach(async () => {
  test = await startTestDatabase()
})

afterEach(async () => {
  await test.stop()
})

/** Ends the current session, as a server restart does. */
const endOwnSession = 'select pg_terminate_backend(pg_backend_pid())'

it('fails a query whose connection is lost, and continues with the next', async () => {
  const { control } = test.database
  for (let round = 0; round < 4; round += 1) {
    const lost = control.begin(async (sql) => {
      await sql`select 1`
      await sql.unsafe(endOwnSession)
    })
    await expect(lost).rejects.toThrow()
    expect(await control`select 1 as one`).toEqual([{ one: 1 }])
  }
})

it('fails queries of a transaction whose connection is lost', async () => {
  const { control } = test.database
  for (let round = 0; round < 4; round += 1) {
    const lost = control.begin(async (sql) => {
      await sql.unsafe(endOwnSession).catch(() => undefined)
      await sql`select 1`
    })
    await expect(lost).rejects.toThrow()
  }
  expect(await control`select 1 as one`).toEqual([{ one: 1 }])
})

it('serves as many concurrent queries as before after all connections are lost', async () => {
  const { control } = test.database
  for (let round = 0; round < 3; round += 1) {
    const lost = Array.from({ length: 12 }, () =>
      control.begin((sql) => Promise.all([sql`select pg_sleep(0.01)`, sql.unsafe(endOwnSession)])),
    )
    for (const { status } of await Promise.allSettled(lost)) expect(status).toBe('rejected')
    const asked = Array.from({ length: 12 }, (_, at) => control`select ${at}::int as at`)
    expect((await Promise.all(asked)).flat()).toEqual(asked.map((_, at) => ({ at })))
  }
})
