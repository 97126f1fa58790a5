import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { TestStack } from './test-stack.ts'

const program = fileURLToPath(new URL('../dist/bundled/main.js', import.meta.url))

export type KillableControlPlane = {
  readonly url: string
  /** Kills the process at once (-9). Resolves when it has exited. */
  kill(): Promise<void>
}

/** Starts a separate process on the stack's stores. Resolves when it serves. */
export async function startKillableControlPlane(
  { folder, databaseUrl }: Pick<TestStack, 'folder' | 'databaseUrl'>,
  settings: Record<string, string> = {},
): Promise<KillableControlPlane> {
  const child = fork(program, [], {
    // The arguments of a vitest worker are left out, because they resolve sources instead of built files.
    execArgv: [],
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_DATA_DIR: folder,
      TOLLGATE_DATABASE_URL: databaseUrl,
      TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:9',
      TOLLGATE_LOG_LEVEL: 'error',
      TOLLGATE_LOG_PARTITIONS: '4',
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const gone = once(child, 'exit')
  const [ready] = (await Promise.race([once(child, 'message'), gone])) as [{ port?: number }]
  expect(ready?.port, 'the service ended before it served').toEqual(expect.any(Number))
  return {
    url: `http://127.0.0.1:${ready.port}`,
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}
