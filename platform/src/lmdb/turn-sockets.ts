import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The sockets on which the processes that use a folder listen. The name of each has the token of its process. */
export class TurnSockets {
  readonly #folder: string
  /** The folder of the sockets, by a path that is short enough. */
  #reachedAt: string
  #link: string | undefined

  constructor(folder: string) {
    this.#folder = folder
    this.#reachedAt = folder
  }

  /**
   * Listens in the folder. If its file system has no sockets, then for all processes, which therefore all listen in the same
   * folder of the system's folder for temporary files.
   */
  async listen(token: string, accept: (socket: Socket) => void): Promise<Server> {
    this.#reachedAt = this.#shortened(this.#folder)
    try {
      return await this.#listenAt(this.#path(token), accept)
    } catch {
      const name = createHash('sha256').update(this.#folder).digest('hex').slice(0, 24)
      this.#reachedAt = this.#shortened(join(tmpdir(), `tollgate-turns-${name}`))
      mkdirSync(this.#reachedAt, { recursive: true, mode: 0o700 })
      return await this.#listenAt(this.#path(token), accept)
    }
  }

  /** Returns the tokens of the other processes, some of which may have ended. */
  others(token: string): string[] {
    const found = readdirSync(this.#reachedAt).map((name) => socketName.exec(name)?.[1])
    return found.filter((each): each is string => each !== undefined && each !== token)
  }

  connect(token: string): Socket {
    return connect(this.#path(token))
  }

  /** Removes the socket of a process that does not answer, unless it is so new that its process may not listen yet. */
  removeOld(token: string): void {
    const { mtimeMs } = statSync(this.#path(token), { throwIfNoEntry: false }) ?? {}
    if (mtimeMs !== undefined && Date.now() - mtimeMs > removedAfterMs) this.remove(token)
  }

  remove(token: string): void {
    rmSync(this.#path(token), { force: true })
  }

  close(token: string): void {
    this.remove(token)
    if (this.#link !== undefined) rmSync(this.#link, { recursive: true, force: true })
  }

  #listenAt(path: string, accept: (socket: Socket) => void): Promise<Server> {
    const server = createServer(accept)
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, () => resolve(server))
    })
  }

  #path(token: string): string {
    return join(this.#reachedAt, `turn-${token}.sock`)
  }

  /** Systems limit the path of a socket, so a long one is reached through a link. */
  #shortened(folder: string): string {
    if (Buffer.byteLength(folder) <= folderBytesMax) return folder
    this.#link = mkdtempSync(join(tmpdir(), 'tollgate-'))
    const link = join(this.#link, 'f')
    symlinkSync(folder, link)
    return link
  }
}

const socketName = /^turn-([0-9a-f]{16})\.sock$/
/** The shortest limit of a socket path on any system is 104 bytes including the final zero; the name of a socket takes 27. */
const folderBytesMax = 75
const removedAfterMs = 60_000
