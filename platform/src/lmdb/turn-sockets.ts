import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * The sockets on which the processes that use a folder listen. The name of each has the token of its process. They are in the folder,
 * or in one of the system's folder for temporary files, where a process listens if the first one takes no socket: its file system may
 * have none, or its disk may be full. Every process looks in both.
 */
export class TurnSockets {
  readonly #folders: readonly [string, string]
  /** The paths at which the folders are reached, which are short enough for sockets. */
  #reachedAt: string[] = []
  #links: string[] = []

  constructor(folder: string) {
    const name = createHash('sha256').update(folder).digest('hex').slice(0, 24)
    this.#folders = [folder, join(tmpdir(), `tollgate-turns-${name}`)]
  }

  async listen(token: string, accept: (socket: Socket) => void): Promise<Server> {
    this.#reachedAt = this.#folders.map((folder) => this.#shortened(folder))
    const [first, second] = this.#reachedAt as [string, string]
    try {
      return await listenAt(pathIn(first, token), accept)
    } catch {
      mkdirSync(this.#folders[1], { recursive: true, mode: 0o700 })
      return await listenAt(pathIn(second, token), accept)
    }
  }

  /** Returns the tokens of all processes, some of which may have ended. */
  list(): string[] {
    return this.#reachedAt.flatMap(tokensIn)
  }

  connect(token: string): Socket {
    return connect(this.#path(token))
  }

  /** Removes the socket of a process that does not answer, unless it is so new that its process may not listen yet. */
  removeOld(token: string): void {
    const { mtimeMs } = statSync(this.#path(token), { throwIfNoEntry: false }) ?? {}
    if (mtimeMs !== undefined && Date.now() - mtimeMs > removedAfterMs) this.#remove(token)
  }

  close(token: string): void {
    this.#remove(token)
    for (const link of this.#links) rmSync(link, { recursive: true, force: true })
  }

  #remove(token: string): void {
    rmSync(this.#path(token), { force: true })
  }

  #path(token: string): string {
    const paths = this.#reachedAt.map((folder) => pathIn(folder, token))
    return paths.find((path) => existsSync(path)) ?? paths[0]!
  }

  /** Systems limit the path of a socket, so a long one is reached through a link. */
  #shortened(folder: string): string {
    if (Buffer.byteLength(folder) <= folderBytesMax) return folder
    const place = mkdtempSync(join(tmpdir(), 'tollgate-'))
    this.#links.push(place)
    const link = join(place, 'f')
    symlinkSync(folder, link)
    return link
  }
}

function listenAt(path: string, accept: (socket: Socket) => void): Promise<Server> {
  const server = createServer(accept)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve(server))
  })
}

function pathIn(folder: string, token: string): string {
  return join(folder, `turn-${token}.sock`)
}

function tokensIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const tokens = readdirSync(folder).map((name) => socketName.exec(name)?.[1])
  return tokens.filter((token) => token !== undefined)
}

const socketName = /^turn-([0-9a-f]{16})\.sock$/
/** The shortest limit of a socket path on any system is 104 bytes including the final zero; the name of a socket takes 27. */
const folderBytesMax = 75
const removedAfterMs = 60_000
