import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { killTree } from '../../../tools/src/instance/process-tree.ts'

const program = fileURLToPath(new URL('../../dist/bundled/tollgate/main.js', import.meta.url))

export type Ending = { readonly code: number | null; readonly output: string }

export type Interruption = {
  /** Milliseconds from the first output of the command. Before it, the command has not begun to work and handles no signals. */
  readonly afterMs: number
  readonly signal: 'SIGINT' | 'SIGKILL'
}

/** Runs `npm run tollgate -- migrate` until it ends or is interrupted. */
export async function runMigrate(
  from: string,
  environment: Readonly<Record<string, string>>,
  interruption?: Interruption,
): Promise<Ending> {
  const child = spawn(process.execPath, [program, 'migrate', '--from', from], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, 'close') as Promise<[number | null]>
  const begun = once(child.stdout, 'data')
  if (interruption !== undefined) {
    const { afterMs, signal } = interruption
    const due = begun.then(() => sleep(afterMs, undefined, { ref: false }))
    await Promise.race([due, ended])
    // Kills all processes at once, as when the machine crashes.
    if (signal === 'SIGKILL' && child.exitCode === null) await killTree(child.pid!)
    else child.kill(signal)
  }
  const [code] = await ended
  return { code, output }
}
