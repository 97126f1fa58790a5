import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { access, copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Stripe's fixture server. It knows every operation and the types of its parameters, and has no state. */
const module = 'github.com/stripe/stripe-mock@v0.203.0'

export const hasGo = spawnSync('go', ['version']).status === 0

export type InstalledMock = { readonly program: string; readonly specification: string }

/**
 * Installs stripe-mock with its API description outside the repository, once per version. The files are moved to their final place
 * when they are complete, so that a killed run leaves no incomplete ones.
 */
export async function installStripeMock(): Promise<InstalledMock> {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tollgate')
  const folder = join(cache, module.replaceAll(/[/@]/g, '-'))
  if (!(await exists(folder))) {
    await mkdir(cache, { recursive: true })
    const making = await mkdtemp(`${folder}-`)
    await run('go', ['install', module], { env: { ...process.env, GOBIN: making } })
    const { stdout } = await run('go', ['mod', 'download', '-json', module])
    const { Dir: sources } = JSON.parse(stdout) as { Dir: string }
    await copyFile(join(sources, 'embedded/openapi/spec3.json'), join(making, 'spec3.json'))
    await rename(making, folder).catch(async (error: unknown) => {
      // Another process has installed it first.
      await rm(making, { recursive: true })
      if (!(await exists(folder))) throw error
    })
  }
  return { program: join(folder, 'stripe-mock'), specification: join(folder, 'spec3.json') }
}

export type RunningMock = { readonly url: string; stop(): Promise<void> }

const startWithinMs = 30_000

export async function startStripeMock(program: string, port: number): Promise<RunningMock> {
  const child = spawn(program, ['-http-addr', `127.0.0.1:${port}`], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  for (const endMs = Date.now() + startWithinMs; ;) {
    if (await isAnswered(url)) return { url, stop }
    if (child.exitCode !== null || Date.now() > endMs) {
      await stop()
      throw new Error('stripe-mock has not started.')
    }
    await sleep(50)
  }
}

async function isAnswered(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
