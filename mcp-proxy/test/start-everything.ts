import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { freePort } from '@tollgate/platform/testing/free-ports'

export type EverythingServer = { readonly url: string; stop(): Promise<void> }

const program = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
)

/**
 * Starts the official example server in a separate process with an empty environment, because one of its tools prints its
 * environment. On a given port, it can replace a server that was stopped.
 */
export async function startEverything(port?: number): Promise<EverythingServer> {
  const taken = port ?? (await freePort())
  const child = spawn(process.execPath, [program, 'streamableHttp'], {
    env: { PORT: String(taken) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The example server ended: ${output}`)))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (/listening|running/i.test(output)) resolve()
    })
  })
  return {
    url: `http://127.0.0.1:${taken}/mcp`,
    async stop() {
      child.removeAllListeners('exit')
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
