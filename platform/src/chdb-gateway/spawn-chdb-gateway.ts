import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export type ChdbGatewayProcess = {
  readonly url: string
  readonly process: ChildProcess
  /** Lets running statements end, then closes the engine. Kills the process after the timeout. */
  stop(): Promise<void>
}

export type SpawnChdbGatewayOptions = {
  readonly folder: string
  readonly password: string
  /** Password of the read-only user. Undefined refuses that user. */
  readonly readerPassword?: string
  readonly port?: number
  readonly startTimeoutMs?: number
  readonly stopTimeoutMs?: number
}

/** Path of the bundled program. It is used even if this code runs from source, because it starts sooner. */
const program = fileURLToPath(new URL('../../dist/bundled/chdb-gateway/main.js', import.meta.url))

/** Starts the gateway as a child process that ends with this process. Its folder stays locked while it is running. */
export async function spawnChdbGateway(
  options: SpawnChdbGatewayOptions,
): Promise<ChdbGatewayProcess> {
  const { startTimeoutMs = 60_000, stopTimeoutMs = 30_000 } = options
  const child = fork(program, {
    // The options of this process, such as those of a test, are not meant for the gateway.
    execArgv: [],
    // The child gets no other variables: the engine needs none, and they may contain secrets.
    env: {
      TZ: 'UTC',
      CHDB_GATEWAY_FOLDER: options.folder,
      CHDB_GATEWAY_PORT: String(options.port ?? 0),
      CHDB_GATEWAY_PASSWORD: options.password,
      CHDB_GATEWAY_READER_PASSWORD: options.readerPassword ?? '',
      // Every running statement occupies a libuv thread; the default of four could be used up by statements.
      UV_THREADPOOL_SIZE: '8',
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const port = await firstReport(child, startTimeoutMs)
  return {
    url: `http://127.0.0.1:${port}`,
    process: child,
    stop: () => stop(child, stopTimeoutMs),
  }
}

async function firstReport(child: ChildProcess, timeoutMs: number): Promise<number> {
  let errorOutput = ''
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (text: string) => (errorOutput = (errorOutput + text).slice(-4096)))
  return await new Promise<number>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(
        new Error(`The ClickHouse gateway did not start within ${timeoutMs} ms. ${errorOutput}`),
      )
    }, timeoutMs)
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      reject(new Error(errorOutput.trim() || `The ClickHouse gateway ended: ${signal ?? code}.`))
    })
    child.once('message', (report: { readonly port: number }) => {
      clearTimeout(timer)
      resolve(report.port)
    })
  })
}

async function stop(child: ChildProcess, timeoutMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  await exited
  clearTimeout(timer)
}
