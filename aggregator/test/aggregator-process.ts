import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Installation } from './installation.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** The aggregator as `npm start` runs it: a process of its own, to be killed at will. */
export function forkAggregator(
  projection: 'counters' | 'sink',
  { dataDir, clickhouse }: Installation,
): ChildProcess {
  const { url, username, password } = clickhouse.connection
  return fork(main, {
    execArgv: ['--conditions=source', '--import', 'tsx'],
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_PROJECTION: projection,
      TOLLGATE_DATA_DIR: dataDir,
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

export async function ready(child: ChildProcess): Promise<void> {
  await once(child, 'message')
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
