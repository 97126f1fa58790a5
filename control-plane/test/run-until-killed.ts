import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { TestStack } from './test-stack.ts'

const program = fileURLToPath(new URL('../dist/bundled/testing/killed-process.js', import.meta.url))

/** The write to the hot state at which the process is killed, counted from 0, and whether it is killed before or after the write. */
export type KillPoint = { readonly moment: 'before' | 'after'; readonly write: number }

/**
 * Runs a control plane on the stack's stores, or one of the operator's commands, until it is killed. A control plane gets a request as
 * soon as it serves, and the request must fail. `onStart` gets the process, so that the caller can kill it if the test fails.
 */
export async function runUntilKilled(
  stack: Pick<TestStack, 'folder' | 'databaseUrl'>,
  { moment, write }: KillPoint,
  command: readonly string[],
  useOf: (port: number) => Promise<unknown> = () => Promise.resolve(),
  onStart: (child: ChildProcess) => void = () => {},
): Promise<void> {
  const child = fork(program, [moment, String(write), ...command], {
    execArgv: [],
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
    // A process that is killed before it serves has no port. The expectation on its exit below reports this.
    const [ready] = (await Promise.race([once(child, 'message'), gone])) as [{ port?: number }]
    await expect(useOf(ready?.port ?? 0)).rejects.toThrow()
  }
  expect(await gone).toEqual([null, 'SIGKILL'])
}
