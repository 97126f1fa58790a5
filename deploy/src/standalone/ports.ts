import { createServer } from 'node:net'
import { StartRefusedError } from './start-refused.ts'

export const host = '127.0.0.1'

/**
 * Range of internal ports. It lies below the range that operating systems use for outgoing connections. An outgoing connection can
 * therefore not take a port between this check and the moment the service listens, even if the service is restarted much later.
 */
const internalFrom = 20_000
const internalTo = 32_000
const attemptsMax = 200

export async function requireFreePort(port: number, variable: string): Promise<void> {
  const problem = await listenProblem(port)
  if (problem === undefined) return
  if (problem === 'EADDRINUSE') {
    throw new StartRefusedError(
      `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another port with ${variable}.`,
    )
  }
  throw new StartRefusedError(
    `Cannot listen on port ${port} of ${host} (${problem}). Choose another with ${variable}.`,
  )
}

/** Returns a free port that is not in `taken`, and adds it to `taken`. */
export async function findFreePort(taken: Set<number>): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const port = internalFrom + Math.floor(Math.random() * (internalTo - internalFrom))
    if (taken.has(port)) continue
    taken.add(port)
    if ((await listenProblem(port)) === undefined) return port
  }
  throw new StartRefusedError(
    `No free port between ${internalFrom} and ${internalTo} on ${host}. Stop some of the programs that use these ports.`,
  )
}

/** Returns the error code of listening on the port, or undefined if the port is free. */
function listenProblem(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
