import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const aggregator = fileURLToPath(
  new URL('../../../aggregator/dist/bundled/main.js', import.meta.url),
)

/** Starts the counters projection like `npm start`, in a child process that tests can kill. */
export async function startCounters(dataDir: string): Promise<ChildProcess> {
  const child = fork(aggregator, {
    // The Node options of a Vitest worker are not inherited, because they resolve packages to their sources.
    execArgv: [],
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_PROJECTION: 'counters',
      TOLLGATE_DATA_DIR: dataDir,
      // ClickHouse is never queried, because the counters are not lost.
      TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:9',
      TOLLGATE_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return child
}

export async function killCounters(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
