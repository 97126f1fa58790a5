import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@tollgate/platform/database/embedded/embedded-postgres'
import { PostgresKilledError } from '@tollgate/platform/database/embedded/postgres-killed-error'
import { StartRefusedError } from './start-refused.ts'
import type { Part, RunningPart } from '@tollgate/platform/processes/supervise'

/** Returns the part that runs PostgreSQL. `onUrl` receives its URL, which stays the same after relaunches. */
export function postgresPart(folder: string, port: number, onUrl: (url: string) => void): Part {
  async function launch(): Promise<RunningPart> {
    const server = await startEmbeddedPostgres({ folder, port }).catch((error: unknown) => {
      const wasKilled = error instanceof PostgresKilledError
      throw new StartRefusedError(error instanceof Error ? error.message : String(error), {
        wasKilled,
      })
    })
    onUrl(server.url)
    return {
      pid: await readPid(folder),
      ended: server.exited.then(() => 'its process ended'),
      stop: () => server.stop(),
    }
  }
  return { name: 'postgres', logPath: join(folder, 'server.log'), launch }
}

async function readPid(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8').catch(() => '')
  return Number.parseInt(text, 10) || undefined
}
