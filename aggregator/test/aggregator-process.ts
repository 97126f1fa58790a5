import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Installation } from './installation.ts'

const main = fileURLToPath(new URL('../dist/bundled/main.js', import.meta.url))

/** Starts the aggregator like `npm start`, in a child process that tests can kill. */
export function forkAggregator(
  projection: 'counters' | 'sink' | 'all',
  { environment, clickhouse }: Installation,
): ChildProcess {
  const { url, username, password } = clickhouse.connection
  return fork(main, {
    // The arguments of a vitest worker are left out, because they resolve sources instead of built files.
    execArgv: [],
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_PROJECTION: projection,
      ...environment,
      TOLLGATE_CLICKHOUSE_URL: url,
      TOLLGATE_CLICKHOUSE_USERNAME: username,
      TOLLGATE_CLICKHOUSE_PASSWORD: password,
      TOLLGATE_SINK_BATCH_ROWS_MAX: '700',
      TOLLGATE_SINK_DELAY_MS: '20',
      TOLLGATE_COUNTERS_BATCH_RECORDS_MAX: '500',
      TOLLGATE_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}

/** Resolves with the port of health checks and metrics. */
export async function ready(child: ChildProcess): Promise<number> {
  const [message] = (await once(child, 'message')) as [{ readonly adminPort: number }]
  return message.adminPort
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
