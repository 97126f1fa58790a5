import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { launch, type Cluster, type Launched } from './cluster.ts'
import { PostgresKilledError, wasKilled } from './postgres-killed-error.ts'
import { readStatus, writeOwner } from './postmaster.ts'
import { serverArguments } from './server-arguments.ts'

export type ServerProcess = {
  readonly port: number
  /** Resolves when the server has exited, whether it was stopped or not. */
  readonly exited: Promise<void>
  readonly stop: () => Promise<void>
}

export type ServerTimeouts = { readonly startMs: number; readonly stopMs: number }

export async function startServer(
  cluster: Cluster,
  wantedPort: number,
  timeouts: ServerTimeouts,
): Promise<ServerProcess> {
  const end = Date.now() + timeouts.startMs
  for (;;) {
    const port = wantedPort === 0 ? await freePort() : wantedPort
    // Written before the server starts, so that a server always has a recorded owner.
    writeOwner(cluster.place.owner)
    const launched = launch(
      cluster,
      cluster.binaries.postgres,
      serverArguments({ dataFolder: cluster.place.data, port, isDurable: cluster.isDurable }),
    )
    const exited = hasExited(launched.child)
    if (await becomesReady(launched, cluster.place.data, end)) {
      return { port, exited, stop: () => stop(cluster, launched.child, exited, timeouts.stopMs) }
    }
    await exited
    if (wasKilled(launched.child.signalCode, launched.output())) {
      throw new PostgresKilledError(`PostgreSQL was killed while it started. ${launched.output()}`)
    }
    if (!mayRetry(launched.output(), wantedPort) || Date.now() > end) {
      throw new Error(`PostgreSQL did not start. ${launched.output()}`)
    }
    await sleep(200)
  }
}

/**
 * Returns whether a new attempt may succeed: sessions of a killed server take a moment to end, and a free port may be taken before
 * the server binds it.
 */
function mayRetry(output: string, wantedPort: number): boolean {
  if (/pre-existing shared memory block/.test(output)) return true
  return wantedPort === 0 && /could not create any TCP\/IP sockets/.test(output)
}

async function becomesReady(launched: Launched, data: string, end: number): Promise<boolean> {
  const { child } = launched
  while (child.exitCode === null && child.signalCode === null) {
    const status = readStatus(data)
    if (status?.pid === child.pid && status?.isReady === true) return true
    if (Date.now() > end) {
      child.kill('SIGQUIT')
      throw new Error(`PostgreSQL was not ready in time. ${launched.output()}`)
    }
    await sleep(10)
  }
  return false
}

async function hasExited(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) await once(child, 'error')
  else if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

/**
 * Stops the server. SIGINT ends the sessions and writes a checkpoint. After the timeout, SIGQUIT ends it at once and the next start
 * recovers.
 */
async function stop(
  cluster: Cluster,
  child: ChildProcess,
  exited: Promise<void>,
  timeoutMs: number,
): Promise<void> {
  child.kill('SIGINT')
  const timer = setTimeout(() => child.kill('SIGQUIT'), timeoutMs)
  await exited
  clearTimeout(timer)
  rmSync(cluster.place.owner, { force: true })
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
