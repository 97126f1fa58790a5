import { afterEach, beforeEach, expect, it } from 'vitest'
import { startTestDatabase, type TestDatabase } from '../src/testing/embedded-servers.ts'

let test: TestDatabase

beforeEach(async () => {
  test = await startTestDatabase()
})

afterEach(async () => {
  await test.stop()
})

/** Ends the session of whoever asks, as a server does that restarts. */
const endOwnSession = 'select pg_terminate_backend(pg_backend_pid())'

it('fails what its connection was lost under, and goes on with the next', async () => {
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

it('fails what is asked of a transaction whose connection was lost', async () => {
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

it('serves as many at once as before, when all its connections were lost at work', async () => {
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
