import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export type Child = { readonly port: number; stop(): void }

/** Starts a server in its own process, by the folder of its `main.ts`. It ends with this process. */
export async function startChild(
  folder: 'origin' | 'bare-proxy',
  ...values: readonly string[]
): Promise<Child> {
  const program = fileURLToPath(
    new URL(`../../../dist/bench/mcp/${folder}/main.js`, import.meta.url),
  )
  const child = fork(program, values)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { port, stop: () => child.disconnect() }
}
