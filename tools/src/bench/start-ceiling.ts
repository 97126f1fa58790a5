import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '@tollgate/deploy/standalone/ports'

const program = fileURLToPath(new URL('../../dist/bench/ceiling/main.js', import.meta.url))

export type CeilingServer = { readonly baseUrl: string; stop(): void }

/** Starts the ceiling server in its own process, like Tollgate's server. */
export async function startCeiling(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<CeilingServer> {
  const port = await findFreePort(new Set())
  const child = fork(program, { env: { ...environment, CEILING_PORT: String(port) } })
  await once(child, 'message')
  return { baseUrl: `http://127.0.0.1:${port}`, stop: () => void child.kill() }
}
