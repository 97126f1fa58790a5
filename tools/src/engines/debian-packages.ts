import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { StartRefusedError } from '@tollgate/deploy/standalone/start-refused'

const run = promisify(execFile)
const outputBytesMax = 16 * 1_048_576

/** Debian runs this program before a package starts its service. Exit code 101 forbids the start. */
const policyFile = '/usr/sbin/policy-rc.d'
export const policy = `#!/bin/sh
# Made by Tollgate's engines:up while it installs packages, and removed afterwards: it wants the programs, not services.
exit 101
`

export function canInstallPackages(): boolean {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
}

let installing: Promise<void> = Promise.resolve()

/** Installs one package at a time, because apt-get locks its database. */
export function installPackage(name: string, print: (line: string) => void): Promise<void> {
  const install = installing.then(() => whileLocked(lockFile, () => installNow(name, print)))
  installing = install.catch(() => undefined)
  return install
}

async function installNow(name: string, print: (line: string) => void): Promise<void> {
  print(`Installing the Debian package ${name} (apt-get) ...`)
  const endPolicy = await preventServiceStarts(policyFile)
  try {
    await aptGet('update')
    await aptGet('install', '--yes', '--no-install-recommends', name)
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    const reason = stderr.trim().split('\n').at(-1) ?? String(error)
    throw new StartRefusedError(`apt-get could not install ${name}: ${reason}`)
  } finally {
    await endPolicy()
  }
}

async function aptGet(...parameters: string[]): Promise<void> {
  await run('env', ['DEBIAN_FRONTEND=noninteractive', 'apt-get', '--quiet', ...parameters], {
    maxBuffer: outputBytesMax,
  })
}

const lockFile = '/var/lock/tollgate-apt-get'

/**
 * Lets one process at a time install: apt-get refuses to run twice, and the process that ends first would remove the policy file of
 * the other one. The lock ends with the process that holds it. Throws a StartRefusedError if the file cannot be locked.
 */
export async function whileLocked<Result>(
  file: string,
  act: () => Promise<Result>,
): Promise<Result> {
  const lock = spawn('flock', [file, 'sh', '-c', 'echo held; cat'], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const complaint = text(lock.stderr)
  const isHeld = await Promise.race([
    once(lock.stdout, 'data').then(() => true),
    once(lock, 'close').then(() => false),
  ])
  if (!isHeld) {
    const reason = (await complaint).trim() || `flock ended with ${lock.exitCode}`
    throw new StartRefusedError(`${file} could not be locked: ${reason}`)
  }
  try {
    return await act()
  } finally {
    lock.stdin.end()
  }
}

/**
 * Writes the policy file unless the machine already has one. The returned function removes the file only if Tollgate wrote it,
 * including one that an interrupted installation left behind.
 */
export async function preventServiceStarts(file: string): Promise<() => Promise<void>> {
  if (!existsSync(file)) await writeFile(file, policy, { mode: 0o755 })
  return async () => {
    if ((await readFile(file, 'utf8').catch(() => '')) === policy) await rm(file)
  }
}
