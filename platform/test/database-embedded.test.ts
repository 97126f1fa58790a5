import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../src/database/embedded/embedded-postgres.ts'
import { createPostgresDatabase } from '../src/database/postgres/postgres-database.ts'

let folder: string

beforeEach(async () => {
  // mkdtemp makes it 0700, as a clone in a temporary folder is: nobody but its owner can go in.
  folder = await mkdtemp(join(tmpdir(), 'tollgate-pg-'))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function countNotes(server: EmbeddedPostgres): Promise<bigint> {
  const database = createPostgresDatabase({ url: server.url })
  try {
    const [row] = await database.control<{ n: bigint }[]>`SELECT count(*) AS n FROM public.notes`
    return row?.n ?? -1n
  } finally {
    await database.close()
  }
}

async function addNotes(server: EmbeddedPostgres, count: number): Promise<void> {
  const database = createPostgresDatabase({ url: server.url })
  await database.control`CREATE TABLE IF NOT EXISTS public.notes (id bigserial PRIMARY KEY)`
  for (let each = 0; each < count; each += 1) {
    await database.control`INSERT INTO public.notes DEFAULT VALUES`
  }
  await database.close()
}

describe('embedded PostgreSQL', () => {
  it('keeps data over a restart, and its password', async () => {
    const first = await startEmbeddedPostgres({ folder, port: 0 })
    await addNotes(first, 3)
    await first.stop()
    await first.stop()
    const second = await startEmbeddedPostgres({ folder, port: 0 })
    expect(await countNotes(second)).toBe(3n)
    expect(new URL(second.url).password).toBe(new URL(first.url).password)
    await second.stop()
  })
})
