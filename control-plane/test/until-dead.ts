import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { TestStack } from './test-stack.ts'

const program = fileURLToPath(new URL('./dying-process.ts', import.meta.url))

/** At which write to the hot state, from 0, and on which side of it. */
export type Death = { readonly moment: 'before' | 'after'; readonly write: number }

/**
 * Runs a control plane on the stack's stores, or one of the operator's commands, to its death. A control plane is made a
 * call of once it serves, which fails. `onStart` is handed the process, for whoever has to end it otherwise.
 */
export async function untilDead(
  stack: Pick<TestStack, 'folder' | 'databaseUrl'>,
  { moment, write }: Death,
  command: readonly string[],
  useOf: (port: number) => Promise<unknown> = () => Promise.resolve(),
  onStart: (child: ChildProcess) => void = () => {},
): Promise<void> {
  const child = fork(program, [moment, String(write), ...command], {
    execArgv: ['--conditions=source', '--import', 'tsx'],
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_DATA_DIR: stack.folder,
      TOLLGATE_DATABASE_URL: stack.databaseUrl,
      TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:9',
      TOLLGATE_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  onStart(child)
  const gone = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  if (command.length === 0) {
    // One that is gone before it serves has no port, and is told by its exit below.
    const [ready] = (await Promise.race([once(child, 'message'), gone])) as [{ port?: number }]
    await expect(useOf(ready?.port ?? 0)).rejects.toThrow()
  }
  expect(await gone).toEqual([null, 'SIGKILL'])
}
