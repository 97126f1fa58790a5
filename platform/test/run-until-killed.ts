import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Runs a script of this folder, kills it with SIGKILL some time after its first output, and returns its complete lines. */
export async function runUntilKilled(
  script: string,
  parameters: readonly string[],
  killAfterMs: number,
): Promise<string[]> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const node = ['--conditions=source', '--import', 'tsx', path, ...parameters]
  const child = spawn(process.execPath, node, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let isTimed = false
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    if (isTimed) return
    isTimed = true
    setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== null) throw new Error(`${script} ended by itself with code ${code}. ${errors}`)
  return output
    .slice(0, output.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1)
}
