import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Outcome = {
  readonly status: number | null
  readonly output: string
  readonly seconds: number
}

/** A new user who has a clone, an empty home folder and one version of Node. */
export type Newcomer = {
  readonly home: string
  readonly clone: string
  /** Runs a bash script, by default in the clone. The output combines standard output and standard error. */
  run(script: string, options?: RunOptions): Promise<Outcome>
  /** Starts a script without waiting for its end. */
  start(script: string, folder?: string): Running
  remove(): void
}

type RunOptions = {
  readonly folder?: string
  readonly timeoutMs?: number
}

export type Running = {
  output(): string
  /** Resolves to the output as soon as it matches. Throws if the script ends before, or after the timeout. */
  until(pattern: RegExp, timeoutMs: number): Promise<string>
  /** Sends Ctrl-C. Resolves to the exit code. */
  interrupt(): Promise<number | null>
}

const user = 'newcomer'

/** Creates the account, which requires root, and clones the last commit of the repository. */
export function createNewcomer(repository: string, nodeFolder: string): Newcomer {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-newcomer-'))
  execFileSync('useradd', ['--home-dir', home, '--shell', '/bin/bash', user])
  execFileSync('chown', [user, home])
  execFileSync('chmod', ['755', home])
  const clone = join(home, 'tollgate')
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', repository, clone])
  execFileSync('chown', ['-R', `${user}:`, clone])
  // The registry is taken from the machine, because it does not depend on the user.
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
  const variables = [
    `HOME=${home}`,
    `PATH=${nodeFolder}:/usr/local/bin:/usr/bin:/bin`,
    `npm_config_registry=${registry}`,
    'LANG=C.UTF-8',
    ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'].flatMap((name) =>
      process.env[name] === undefined ? [] : [`${name}=${process.env[name]}`],
    ),
  ]
  const begin = (script: string, folder: string): ChildProcess =>
    spawn('runuser', ['-u', user, '--', 'env', '-i', ...variables, 'bash', '-c', script], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
  return {
    home,
    clone,
    run: (script, { folder = clone, timeoutMs = 120_000 } = {}) =>
      untilEnd(begin(script, folder), timeoutMs),
    start: (script, folder = clone) => follow(begin(script, folder)),
    remove: () => {
      spawnSync('userdel', [user])
      execFileSync('rm', ['-rf', home])
    },
  }
}

function gather(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  }
  return () => text
}

async function untilEnd(child: ChildProcess, timeoutMs: number): Promise<Outcome> {
  const startedAtMs = Date.now()
  const output = gather(child)
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), timeoutMs)
  const status = await gone(child)
  clearTimeout(timer)
  return { status, output: output(), seconds: (Date.now() - startedAtMs) / 1_000 }
}

function follow(child: ChildProcess): Running {
  const output = gather(child)
  const ended = gone(child)
  let isOver = false
  void ended.then(() => (isOver = true))
  return {
    output,
    until: async (pattern, timeoutMs) => {
      for (const deadline = Date.now() + timeoutMs; !pattern.test(output());) {
        if (isOver) throw new Error(`ended before ${String(pattern)}:\n${output()}`)
        if (Date.now() > deadline) throw new Error(`no ${String(pattern)} in time:\n${output()}`)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      return output()
    },
    interrupt: async () => {
      if (!isOver) signalGroup(child, 'SIGINT')
      return ended
    },
  }
}

/** Sends the signal to every process of the command, like a terminal. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) process.kill(-child.pid, signal)
}

function gone(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', (status) => resolve(status)))
}
