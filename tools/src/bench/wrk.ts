import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { treeProcessorSeconds } from '../load/process-clock.ts'
import { newKey } from './bodies.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('../../src/bench/post-bodies.lua', import.meta.url))

export type WrkLoad = {
  readonly url: string
  /** Process of the server. The time of its child processes counts as its own. */
  readonly pid: number
  /** File with one JSON body per line. The bodies are sent in turn. */
  readonly bodiesFile: string
  readonly key: string
  readonly connections: number
  readonly seconds: number
  /** Whether every request must be answered with an error status. */
  readonly isRefused?: boolean
}

export type WrkResult = {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Processor time of the server per request, in microseconds. Other load of the machine changes it less than the rate. */
  readonly processorUs: number
  readonly errors: number
}

/**
 * Installs wrk if it is missing. The load generator must use less CPU than the measured server. Generators written in JavaScript
 * would mostly measure themselves.
 */
export async function requireWrk(): Promise<void> {
  if (await isInstalled()) return
  if (userInfo().uid !== 0) {
    throw new Error('npm run bench needs wrk: install it with `sudo apt-get install wrk`.')
  }
  console.log('Installing wrk (apt-get install wrk) ...')
  await run('apt-get', ['update', '-qq'])
  await run('apt-get', ['install', '-y', '-qq', 'wrk'])
}

async function isInstalled(): Promise<boolean> {
  // Without arguments, wrk prints its usage and fails. Only a missing program fails with ENOENT.
  return run('wrk', ['--version']).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )
}

export async function runWrk(load: WrkLoad): Promise<WrkResult> {
  const secondsBefore = await treeProcessorSeconds(load.pid)
  const { stdout } = await run('wrk', [
    '--threads=1',
    `--connections=${load.connections}`,
    `--duration=${load.seconds}s`,
    '--timeout=10s',
    `--script=${script}`,
    load.url,
    '--',
    load.bodiesFile,
    load.key,
    newKey,
    // The load has the other half of each key: the number of the request. Together they are as long as `newKey`.
    randomBytes(newKey.length / 4).toString('hex'),
  ])
  const secondsUsed = (await treeProcessorSeconds(load.pid)) - secondsBefore
  const line = /RESULT (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)/.exec(stdout)
  if (!line) throw new Error(`wrk printed no result:\n${stdout}`)
  const [requests = 0, durationUs = 0, p50Us = 0, p99Us = 0, broken = 0, refused = 0] = line
    .slice(1)
    .map(Number)
  if (requests === 0) throw new Error(`No request to ${load.url} was answered:\n${stdout}`)
  return {
    requestsPerSecond: requests / (durationUs / 1_000_000),
    p50Ms: p50Us / 1000,
    p99Ms: p99Us / 1000,
    processorUs: (secondsUsed / requests) * 1_000_000,
    errors: broken + (load.isRefused === true ? requests - refused : refused),
  }
}
