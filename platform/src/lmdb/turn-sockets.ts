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
import { dirname, join } from 'node:path'

/**
 * The sockets on which the processes that use a folder listen. The name of each has the token of its process. They are in the folder,
 * or in one of the system's folder for temporary files, where a process listens if the first one takes no socket: its file system may
 * have none, or its disk may be full. Every process looks in both.
 */
export class TurnSockets {
  readonly #folder: string
  readonly #elsewhere: string
  /** Paths at which the folders are reached, which are short enough for sockets. */
  readonly #short = new Map<string, string>()

  constructor(folder: string) {
    const name = createHash('sha256').update(folder).digest('hex').slice(0, 24)
    this.#folder = folder
    this.#elsewhere = join(tmpdir(), `tollgate-turns-${name}`)
  }

  async listen(token: string, accept: (socket: Socket) => void): Promise<Server> {
    try {
      return await listenAt(socketIn(this.#shortened(this.#folder), token), accept)
    } catch {
      mkdirSync(this.#elsewhere, { recursive: true, mode: 0o700 })
      return await listenAt(socketIn(this.#shortened(this.#elsewhere), token), accept)
    }
  }

  /** Returns the tokens of all processes, some of which may have ended. */
  list(): string[] {
    return this.#folders().flatMap(tokensIn)
  }

  connect(token: string): Socket {
    return connect(this.#path(token))
  }

  /** Removes the socket of a process that has ended, unless it is so new that its process may not listen yet. */
  removeOld(token: string): void {
    const { mtimeMs } = statSync(this.#path(token), { throwIfNoEntry: false }) ?? {}
    if (mtimeMs !== undefined && Date.now() - mtimeMs > removedAfterMs) this.#remove(token)
  }

  close(token: string): void {
    this.#remove(token)
    for (const [folder, short] of this.#short) {
      if (short !== folder) rmSync(dirname(short), { recursive: true, force: true })
    }
    this.#short.clear()
  }

  #remove(token: string): void {
    rmSync(this.#path(token), { force: true })
  }

  #path(token: string): string {
    const folder = this.#folders().find((each) => existsSync(socketIn(each, token)))
    return socketIn(this.#shortened(folder ?? this.#folder), token)
  }

  /** Another user can make a folder of the same name for temporary files, so it counts only if it belongs to this one. */
  #folders(): string[] {
    const owner = statSync(this.#elsewhere, { throwIfNoEntry: false })?.uid
    return owner === process.getuid!() ? [this.#folder, this.#elsewhere] : [this.#folder]
  }

  /** Systems limit the path of a socket, so a long one is reached through a link. */
  #shortened(folder: string): string {
    const known = this.#short.get(folder)
    if (known !== undefined) return known
    let short = folder
    if (Buffer.byteLength(folder) > folderBytesMax) {
      short = join(mkdtempSync(join(tmpdir(), 'tollgate-')), 'f')
      symlinkSync(folder, short)
    }
    this.#short.set(folder, short)
    return short
  }
}

function listenAt(path: string, accept: (socket: Socket) => void): Promise<Server> {
  const server = createServer(accept)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve(server))
  })
}

function socketIn(folder: string, token: string): string {
  return join(folder, `turn-${token}.sock`)
}

function tokensIn(folder: string): string[] {
  const tokens = readdirSync(folder).map((name) => socketName.exec(name)?.[1])
  return tokens.filter((token) => token !== undefined)
}

const socketName = /^turn-([0-9a-f]{16})\.sock$/
/** The shortest limit of a socket path on any system is 104 bytes including the final zero; the name of a socket takes 27. */
const folderBytesMax = 75
const removedAfterMs = 60_000
