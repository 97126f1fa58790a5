import { createHash } from 'node:crypto'
import { realpath, unlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartRefusedError } from './start-refused.ts'

export type FolderLock = {
  release(): Promise<void>
}

const ownerTimeoutMs = 1_000

/**
 * Locks the folder, so that it has only 1 installation: the process that listens on the folder's socket owns it. The kernel closes
 * the socket when the process ends, so a `kill -9` leaves no stale lock.
 *
 * On Linux, the socket has an abstract name without a file. On other systems it is a file that may outlive its process. A start
 * removes the file if no process answers. If two starts do so at the same time, PostgreSQL decides, because it accepts only 1
 * server per folder.
 */
export async function lockFolder(
  dataDir: string,
  refusal = (owner: string): Error => runsAlready(dataDir, owner),
): Promise<FolderLock> {
  const digest = createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex')
    .slice(0, 32)
  const isFile = process.platform !== 'linux'
  const name = isFile ? join(tmpdir(), `tollgate-${digest}.sock`) : `\0tollgate-${digest}`

  let server = await listen(name)
  if (!server) {
    const owner = await askOwner(name)
    if (owner === undefined && isFile) {
      await unlink(name).catch(() => undefined)
      server = await listen(name)
    }
    if (!server) throw refusal(owner ?? 'unknown')
  }
  const held = server
  return { release: () => new Promise((resolve) => held.close(() => resolve())) }
}

function runsAlready(dataDir: string, owner: string): StartRefusedError {
  return new StartRefusedError(
    `Tollgate already runs on ${dataDir} (process ${owner}). ` +
      'Stop it first, or choose another folder with TOLLGATE_DATA_DIR.',
  )
}

function listen(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.end(String(process.pid))
    })
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(error)
    })
    // The lock alone must not keep the process alive.
    server.listen(name, () => resolve(server.unref()))
  })
}

/** Returns the id of the process that owns the socket, or undefined if no process answers. */
function askOwner(name: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer: string | undefined
    const socket = connect(name)
    socket.setTimeout(ownerTimeoutMs, () => socket.destroy())
    socket.on('connect', () => (answer = 'unknown'))
    socket.on('data', (chunk) => (answer = chunk.toString()))
    socket.on('error', () => resolve(answer))
    socket.on('close', () => resolve(answer))
  })
}
